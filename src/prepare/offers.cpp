#include "prepare/offers.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "choice/variants.h"
#include "colltopo/allreduce_bound.h"
#include "colltopo/chunking.h"
#include "colltopo/error.h"
#include "colltopo/rings.h"
#include "colltopo/routed.h"
#include "colltopo/stepped.h"
#include "colltopo/synthesis.h"
#include "prepare/turned_round.h"

namespace colltopo::prepare {

namespace {

// Beyond these, what takes longer than it can gain is left out.
constexpr Rank k_most_ranks_stepped = 64;
constexpr Rank k_most_ranks_many_trees = 64;
constexpr double k_most_messages = 3e6;  // of one closed form

AlgorithmOptions options_on(const Ground& ground) {
  AlgorithmOptions options;
  options.groups = grouped(ground.node_of);
  if (ground.one_per_host()) options.dimensions = ground.dimensions;
  return options;
}

std::string choice_of(const Algorithm& algorithm, const OptionValues& values) {
  std::string text(algorithm.name);
  char between = ':';
  for (const OptionValues::Value& value : values.all()) {
    text += fmt::format("{}{}={}", between, value.name, value.value);
    between = ',';
  }
  return text;
}

/// Of all ranks, guessed by the first one's program.
double messages_guessed(const Variant& variant) {
  const Program program = variant.algorithm->program(variant.shape, 0, variant.options);
  return static_cast<double>(program.size()) * variant.shape.ranks;
}

std::set<const Variant*> worth_a_price_at(std::vector<Variant>& variants, const Ground& ground,
                                          const std::vector<std::size_t>& sizes) {
  const Terrain terrain(ground.placement());
  std::set<const Variant*> worth;
  for (const std::size_t bytes : sizes)
    for (const Variant* const variant : worth_a_price(variants, terrain, ground.prices, bytes)) worth.insert(variant);
  return worth;
}

Offer offer_of(Collective collective, Kind kind, Schedule schedule, const Ground& ground) {
  Offer offer;
  offer.collective = collective;
  offer.kind = kind;
  offer.name = schedule.name;
  schedule.topology = fingerprint(ground.network);
  schedule.topology_name = ground.network.name();
  offer.schedule = std::move(schedule);
  return offer;
}

bool joined_by_cables(const Topology& network) {
  try {
    spanning_tree(network, TreeSearch::breadth_first);
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// The best along trees, where its programme is small; switches make it large, and slow to solve.
bool has_lp(const Topology& network) { return network.switches() == 0 && allreduce_columns(network) <= k_most_columns; }

Forest packed(const Topology& network, Collective collective, std::int64_t trees, int threads) {
  ForestOptions options;
  options.collective = collective;
  options.threads = threads;
  options.trees = trees;
  return collective == Collective::allreduce && has_lp(network) ? pack_allreduce(network, options)
                                                                : pack_forest(network, options);
}

}  // namespace

std::string_view name(Kind kind) {
  switch (kind) {
    case Kind::closed_form:
      return "closed form";
    case Kind::hierarchical:
      return "hierarchical";
    case Kind::single_path:
      return "single-path";
    case Kind::routed:
      return "routed";
    case Kind::stepped:
      return "in steps";
    case Kind::trees:
      return "trees";
    case Kind::ring:
      return "ring";
  }
  return "";
}

std::vector<Offer> closed_form_offers(const Ground& ground, Collective collective,
                                      const std::vector<std::size_t>& sizes, const Say& say) {
  const AlgorithmOptions given = options_on(ground);
  std::vector<Variant> variants;
  for (const Algorithm& algorithm : algorithms())
    if (serves(algorithm, collective))
      for (Variant& variant : variants_of(algorithm, collective, given, ground.ranks()))
        variants.push_back(std::move(variant));
  std::erase_if(variants, [](const Variant& variant) { return !variant.refusal.empty(); });
  const std::set<const Variant*> worth = worth_a_price_at(variants, ground, sizes);
  std::vector<Offer> offers;
  for (const Variant& variant : variants) {
    if (!worth.contains(&variant)) continue;
    const bool same = collective != Collective::allreduce || variant.properties.same_on_all_ranks;
    if (!same || messages_guessed(variant) > k_most_messages) continue;
    say(fmt::format("{}: {}", name(collective), variant.name));
    Offer offer;
    offer.collective = collective;
    const bool grouped = option_named(*variant.algorithm, "group") != nullptr;
    offer.kind = grouped && !ground.one_per_host() ? Kind::hierarchical : Kind::closed_form;
    offer.name = variant.name;
    offer.choice = choice_of(*variant.algorithm, variant.options.values);
    offer.algorithm = variant.algorithm;
    offer.options = variant.options;
    price(offer, ground);
    offers.push_back(std::move(offer));
  }
  return offers;
}

Schedule schedule_of(const Offer& offer, const Ground& ground) {
  if (offer.algorithm == nullptr) return offer.schedule;
  Schedule schedule = generate(*offer.algorithm, {offer.collective, ground.ranks(), 1, 0}, offer.options);
  schedule.topology = fingerprint(ground.network);
  schedule.topology_name = ground.network.name();
  return schedule;
}

void price(Offer& offer, const Ground& ground) {
  const bool as_file = offer.algorithm == nullptr;
  if (!as_file) {
    offer.as_is.emplace(schedule_of(offer, ground), ground.network, ground.node_of, ground.prices, Cut::whole);
    return;
  }
  if (!offer.schedule.routes.empty())
    offer.with_tables.emplace(offer.schedule, ground.network, ground.node_of, ground.prices, Cut::as_file);
  std::vector<Route> routes;
  routes.swap(offer.schedule.routes);
  offer.as_is.emplace(offer.schedule, ground.network, ground.node_of, ground.prices, Cut::as_file);
  routes.swap(offer.schedule.routes);
}

std::vector<Offer> routed_offers(const Ground& ground, const FlowStart& start, double gap, int threads, const Say& say,
                                 FlowBound* bound) {
  const Topology& network = ground.network;
  SynthesisOptions options;
  options.gap = gap;
  options.threads = threads;
  options.progress = [&](const FlowBound& now) {
    say(fmt::format("alltoall: flow within {:.2f}% of the optimum", 100 * now.gap()));
  };
  if (start.routing.paths() > 0) {
    options.start = &start.routing;
    options.start_lengths = start.lengths;
  }
  const Synthesis synthesis = routing_method_named("mcf")->make(network, options);
  *bound = synthesis.bound;

  std::vector<Offer> offers;
  const auto pairs = static_cast<std::size_t>(network.hosts()) * static_cast<std::size_t>(network.hosts() - 1);
  for (const Chunk most : {k_most_chunks_default, Chunk{2}, Chunk{1}}) {
    say(fmt::format("alltoall: paths in at most {}", most == 1 ? "one chunk" : fmt::format("{} chunks", most)));
    const Chunked chunks = chunked(network, synthesis.routing, most);
    const std::size_t paths = chunks.routing.paths();
    const auto alike = [&](const Offer& offer) {
      return offer.schedule.shape.chunks == chunks.chunks && offer.schedule.routes.size() == paths;
    };
    if (std::ranges::any_of(offers, alike)) continue;
    const Kind kind = paths == pairs ? Kind::single_path : Kind::routed;
    const std::string called = most == k_most_chunks_default ? "mcf" : fmt::format("mcf-{}", most);
    offers.push_back(offer_of(Collective::alltoall, kind, routed_alltoall(called, network, chunks), ground));
  }
  if (ground.ranks() > k_most_ranks_stepped) return offers;
  say("alltoall: in steps, hosts forwarding");
  const ChunkedSteps steps = chunked(network, stepped_flow(network, options).flow);
  offers.push_back(
      offer_of(Collective::alltoall, Kind::stepped, stepped_alltoall("mcf-steps", network, steps), ground));
  return offers;
}

Forest Forests::forest(const Ground& ground, Collective collective, std::int64_t trees, int threads) {
  const Topology& network = ground.network;
  const bool halves =
      collective == Collective::reduce_scatter || (collective == Collective::allreduce && !has_lp(network));
  if (!halves && collective != Collective::allgather) return packed(network, collective, trees, threads);
  auto& known = allgathers_[trees];
  if (!known) known = packed(network, Collective::allgather, trees, threads);
  if (!halves) return *known;
  if (auto turned = turned_round(*known, network, collective)) return *std::move(turned);
  return packed(network, collective, trees, threads);
}

std::vector<Offer> tree_offers(const Ground& ground, Collective collective, int threads, Forests& forests,
                               const Say& say) {
  std::vector<Offer> offers;
  if (!row(collective).made_of_trees()) return offers;
  const Topology& network = ground.network;
  for (const std::int64_t trees : {std::int64_t{0}, std::int64_t{1}}) {
    // Many trees on many hosts take minutes; the loss of few is small there, as a link carries many hosts' trees.
    if (trees == 0 && ground.ranks() > k_most_ranks_many_trees && !rooted(collective)) continue;
    say(fmt::format("{}: packing trees{}", name(collective), trees == 1 ? ", one of each root" : ""));
    const Forest forest = forests.forest(ground, collective, trees, threads);
    if (trees == 1 && !offers.empty() && forest.chunks == offers.front().schedule.shape.chunks) continue;
    offers.push_back(offer_of(collective, Kind::trees, forest_schedule(network, forest), ground));
    if (trees == 1) offers.back().name = offers.back().schedule.name = "forest-1";
  }
  if (rooted(collective) || !joined_by_cables(network)) return offers;
  say(fmt::format("{}: ring without contention", name(collective)));
  const SpanningTree tree = spanning_tree(network, TreeSearch::breadth_first);
  offers.push_back(offer_of(collective, Kind::ring,
                            ring_schedule("lr3", collective, network, tree, lr3_order(network, tree)), ground));
  return offers;
}

}  // namespace colltopo::prepare
