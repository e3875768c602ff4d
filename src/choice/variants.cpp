// Which variants are worth their programs. A row may count what a rank has to send (Fan et al., Propositions 1 to 4);
// that times the machine's parameters is no price, but it orders variants of one row well enough to leave out those
// that are clearly behind, and a previous component that is.

#include "choice/variants.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <string_view>

#include "colltopo/error.h"

namespace colltopo {

namespace {

// Those that a count may be wrong about: within so many times the best, and no more of a row.
struct Doubt {
  double near;
  std::size_t most;
};
constexpr Doubt k_of_packing = {1.1, 2};
constexpr Doubt k_of_placement = {1.4, 4};  // the count takes all messages for messages between nodes, and some are not

Doubt doubt_of(const Counted& counted, const Terrain& terrain) {
  return counted.rounds_within == 0 && terrain.nodes->largest() > 1 ? k_of_placement : k_of_packing;
}

// The most messages a step by any rank with which no more than `all` have heard of one, or been heard by it: with m
// messages a step they are at most `each` m + 1 times as many as before.
std::int64_t most_unfinished(Rank all, Step steps, Rank each) {
  const auto reaches = [&](std::int64_t messages) {
    std::int64_t reached = 1;
    for (Step step = 0; step < steps && reached <= all; ++step) reached *= each * messages + 1;
    return reached;
  };
  std::int64_t messages = 0;
  for (std::int64_t more = std::bit_floor(static_cast<std::uint32_t>(all)); more > 0; more /= 2)
    if (messages + more <= all && reaches(messages + more) <= all) messages += more;
  return messages;
}

double further_messages(std::int64_t messages, const Machine& machine) {
  return static_cast<double>(std::max<std::int64_t>(0, messages - 1)) * machine.overhead;
}

// Of so many steps, as few between nodes as reach all of them.
double least_latency(const Groups& nodes, const Machine& machine, Step steps) {
  if (steps <= 0) return 0;
  const double near = std::min(machine.latency_node, machine.latency_network);
  const double far = nodes.groups() == 1 ? machine.latency_node : machine.latency_network;
  if (nodes.groups() == 1 || nodes.largest() == 1)
    return steps * (far + further_messages(most_unfinished(nodes.ranks(), steps, 1), machine));
  const double all = steps * (near + further_messages(most_unfinished(nodes.ranks(), steps, 1), machine));
  double least = std::numeric_limits<double>::infinity();
  for (Step between = 1; between <= steps; ++between) {
    const std::int64_t messages = most_unfinished(nodes.groups(), between, nodes.largest());
    least = std::min(least, between * (far + further_messages(messages, machine)) + (steps - between) * near);
    if (messages <= 1) break;  // more steps save nothing
  }
  return std::max(all, least);
}

}  // namespace

double Variant::counted_seconds(const Terrain& terrain, const Machine& machine, std::size_t bytes) const {
  const bool network = terrain.nodes->groups() > 1;
  const double latency_between = network ? machine.latency_network : machine.latency_node;
  const double rate_between = network ? machine.bandwidth_network / terrain.nodes->largest() : machine.bandwidth_node;
  const double shards = counted->shards_within + counted->shards_between;
  return counted->rounds_within * machine.latency_node + counted->rounds_between * latency_between +
         static_cast<double>(bytes) * (counted->shards_within / machine.bandwidth_node +
                                       counted->shards_between / rate_between + 2 * shards / machine.bandwidth_copy);
}

void Variant::read_programs(const Terrain& terrain) {
  for (const Rank root : sampled_roots(shape.collective, terrain)) {
    Shape rooted_shape = shape;
    rooted_shape.root = root;
    const auto program_of = [&](Rank rank) {
      Program program = algorithm->program(rooted_shape, rank, options);
      scratch_ = std::max(scratch_, program.scratch());
      return program;
    };
    profiles_.push_back(profile_of(rooted_shape, terrain, steps, {program_of, algorithm->programs_take_all_ranks}));
  }
}

// The same programs are read on all ranks, so all refuse alike. Memory is not the same on all: its lack goes on.
double Variant::seconds(const Terrain& terrain, const Machine& machine, std::size_t bytes) {
  if (profiles_.empty() && refusal.empty()) {
    try {
      read_programs(terrain);
    } catch (const Error& error) {
      refusal = fmt::format("cannot be made here: {}", error.what());
      profiles_.clear();
    }
  }
  double worst = 0;
  for (const Profile& profile : profiles_)
    worst = std::max(worst, seconds_of(profile, machine, shard_bytes(shape, bytes)));
  return worst;
}

std::size_t Variant::most_bytes() const {
  if (scratch_ <= shape.whole()) return k_any_bytes;
  return k_most_scratch / static_cast<std::size_t>(scratch_) * static_cast<std::size_t>(shape.parts());
}

double Variant::least_seconds(const Terrain& terrain, const Machine& machine, std::size_t bytes) const {
  const Groups& nodes = *terrain.nodes;
  double seconds = least_latency(nodes, machine, steps);
  const bool is_one_interface = terrain.placement.network == nullptr && terrain.placement.dimensions.empty();
  if (nodes.groups() > 1 && is_one_interface) {
    const double inside = nodes.size(nodes.group_of(0));
    seconds += row(shape.collective).leaving(inside, nodes.ranks() - inside, true) * static_cast<double>(bytes) /
               machine.bandwidth_network;
  }
  return seconds;
}

constexpr std::string_view k_slices = "slices";

bool Variant::is_sliced() const { return options.values.value_or(k_slices, 1) > 1; }

bool Variant::is_of(const Variant& whole) const {
  if (whole.algorithm != algorithm || whole.is_sliced() || !whole.refusal.empty()) return false;
  OptionValues own = options.values, others = whole.options.values;
  own.forget(k_slices);
  others.forget(k_slices);
  return own == others;
}

// The first slice takes the steps of the whole, with as many messages in each.
double Variant::least_seconds_beside(Variant& whole, const Terrain& terrain, const Machine& machine,
                                     std::size_t bytes) const {
  double saved = 0;
  for (const Profile& profile : whole.profiles_)
    saved = std::max(saved, saved_by_cutting(profile, machine, shard_bytes(whole.shape, bytes)));
  const double latency = std::min(machine.latency_node, machine.latency_network);
  return whole.seconds(terrain, machine, bytes) - saved + std::max(0, steps - whole.steps) * latency;
}

Variant variant_of(const Algorithm& algorithm, Collective collective, const AlgorithmOptions& options, Rank ranks) {
  Variant variant;
  variant.algorithm = &algorithm;
  variant.options = options;
  variant.name = algorithm.name;
  variant.shape = {collective, ranks, 1, 0};
  variant.refusal = algorithm.refusal(variant.shape, options);
  if (!variant.refusal.empty()) return variant;
  variant.shape.chunks = algorithm.chunks(variant.shape, options);
  variant.properties = algorithm.properties(variant.shape, options);
  variant.steps = algorithm.steps(variant.shape, options);
  if (algorithm.counted) variant.counted = algorithm.counted(variant.shape, options);
  const std::string details = algorithm.describe(variant.shape, options);
  if (!details.empty()) variant.name += " " + details;
  return variant;
}

std::vector<Variant> variants_of(const Algorithm& algorithm, Collective collective, const AlgorithmOptions& given,
                                 Rank ranks) {
  std::vector<Variant> all = {variant_of(algorithm, collective, given, ranks)};
  if (!all.front().refusal.empty()) return all;
  all.clear();
  for (const AlgorithmOptions& options : algorithm.variants({collective, ranks, 1, 0}, given))
    all.push_back(variant_of(algorithm, collective, options, ranks));
  return all;
}

std::vector<Variant*> worth_a_price(std::span<Variant> all, const Terrain& terrain, const Machine& machine,
                                    std::size_t bytes) {
  std::vector<Variant*> worth;
  for (std::size_t begin = 0, end = 0; begin < all.size(); begin = end) {  // of one row
    std::vector<double> estimates;
    for (end = begin; end < all.size() && all[end].algorithm == all[begin].algorithm; ++end)
      estimates.push_back(all[end].counted ? all[end].counted_seconds(terrain, machine, bytes) : 0);
    std::vector<double> sorted(estimates);
    std::ranges::sort(sorted);
    const Doubt doubt = all[begin].counted ? doubt_of(*all[begin].counted, terrain) : k_of_packing;
    const double most = std::min(doubt.near * sorted.front(), sorted[std::min(doubt.most, sorted.size()) - 1]);
    for (std::size_t i = begin; i < end; ++i)
      if (!all[i].counted || estimates[i - begin] <= most) worth.push_back(&all[i]);
  }
  return worth;
}

}  // namespace colltopo
