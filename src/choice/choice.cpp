// Candidates per collective, their prices, and decisions by classes of sizes.

#include "colltopo/choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <unordered_map>

#include "choice/fits.h"
#include "choice/played.h"
#include "choice/variants.h"
#include "colltopo/node_network.h"

namespace colltopo {

namespace {

constexpr double k_any_seconds = std::numeric_limits<double>::infinity();
constexpr double k_tried_lead = 0.95;
constexpr double k_lead_untried = 0.75;
constexpr double k_lead_measured = 0.90;  // untried, but both fitted to their own times

// What a decision depends on besides the chooser.
struct Key {
  const std::vector<Variant>* among;
  std::size_t from;  // of the class of sizes
  std::size_t previous;
  bool commutative, associative_bits, fallback_allowed, tried;

  friend bool operator==(const Key&, const Key&) = default;
};

struct KeyHash {
  std::size_t operator()(const Key& key) const {
    std::size_t hash = std::hash<const void*>{}(key.among);
    const std::size_t flags = (key.commutative ? 1u : 0u) | (key.associative_bits ? 2u : 0u) |
                              (key.fallback_allowed ? 4u : 0u) | (key.tried ? 8u : 0u);
    for (const std::size_t part : {key.from, key.previous, flags}) hash = (hash ^ part) * 0x9E3779B97F4A7C15ull;
    return hash ^ (hash >> 32);
  }
};

// Whether the ranks form the torus of nodes themselves: one on each, in the order of the nodes.
bool ranks_are_nodes(const Placement& placement) {
  for (std::size_t rank = 0; rank < placement.node_of.size(); ++rank) {
    if (placement.node_of[rank] != static_cast<int>(rank)) return false;
  }
  return true;
}

AlgorithmOptions completed(AlgorithmOptions options, const Terrain& terrain) {
  if (!options.groups) options.groups = terrain.nodes;
  if (options.dimensions.empty() && ranks_are_nodes(terrain.placement))
    options.dimensions = terrain.placement.dimensions;
  return options;
}

std::string exclusion_of(const Variant& variant, const Request& request, std::size_t bytes) {
  if (!variant.refusal.empty()) return variant.refusal;
  if (bytes > variant.most_bytes())
    return fmt::format("keeps more than {} MiB for others where a call has more than {} bytes", k_most_scratch >> 20,
                       variant.most_bytes());
  return unfit_for(variant.properties, request);
}

// Serving goes before being excluded, then the price decides; the first of equals stays.
bool better(const Candidate& a, const Candidate& b) {
  if (a.excluded.empty() != b.excluded.empty()) return a.excluded.empty();
  return a.seconds < b.seconds;
}

}  // namespace

bool operator==(const Placement& a, const Placement& b) {
  if (a.node_of != b.node_of || a.dimensions != b.dimensions) return false;
  return a.network == b.network || (a.network != nullptr && b.network != nullptr && *a.network == *b.network);
}

int Placement::nodes() const { return node_of.empty() ? 0 : grouped(node_of)->groups(); }

int Placement::ranks_per_node() const { return node_of.empty() ? 0 : grouped(node_of)->largest(); }

SizeClass size_class_of(std::size_t bytes) {
  if (bytes < 8) return {bytes, bytes + 1};
  constexpr int k_last_octave = 50;
  const int octave = static_cast<int>(std::bit_width(bytes)) - 1;
  if (octave >= k_last_octave) return {std::size_t{1} << k_last_octave, k_any_bytes};
  constexpr std::array<double, 5> k_quarters = {1.0, 1.189207115002721, 1.414213562373095, 1.681792830507429, 2.0};
  const auto bound = [&](std::size_t quarter) {
    return static_cast<std::size_t>(std::ceil(std::ldexp(k_quarters[quarter], octave)));
  };
  std::size_t quarter = 0;
  while (bytes >= bound(quarter + 1)) ++quarter;
  return {bound(quarter), bound(quarter + 1)};
}

std::string unfit_for(const Properties& properties, const Request& request) {
  if (!reduces(request.collective)) return "";
  if (!request.commutative && !properties.keeps_rank_order) {
    return "does not keep the order of ranks, which this operation needs";
  }
  if (request.collective == Collective::allreduce && !request.associative_bits && !properties.same_on_all_ranks) {
    return "lets ranks reduce in different orders, which floating point shows";
  }
  return "";
}

struct Chooser::State {
  Terrain terrain;
  Machine machine;
  AlgorithmOptions options;
  CollectiveValues values;
  MeasuredRows measured;
  std::array<std::optional<Fits>, k_collectives> fits;  // made when first asked for
  std::mutex mutex;

  struct Named {  // what was asked for by name
    const Algorithm* algorithm;
    Collective collective;
    AlgorithmOptions given;
    std::vector<Variant> variants;
  };
  std::array<std::unique_ptr<std::vector<Variant>>, k_collectives> all;  // of every row that serves the collective
  std::deque<Named> named;
  Played played;
  std::vector<std::string> previous;  // names that have been asked about
  std::vector<std::string> unmade;    // lines about variants that cannot be made
  std::unordered_map<Key, Choice, KeyHash> choices;

  State(Placement placement, const Machine& machine_, AlgorithmOptions options_, CollectiveValues values_,
        MeasuredRows measured_)
      : terrain(std::move(placement)),
        machine(machine_),
        options(completed(std::move(options_), terrain)),
        values(std::move(values_)),
        measured(std::move(measured_)),
        played(terrain, machine) {}

  const Fits& fitted(Collective collective) {
    auto& made = fits[static_cast<std::size_t>(collective)];
    if (made) return *made;
    const auto model = [&](const MeasuredRow& row, std::size_t bytes) {
      std::optional<double> least;
      if (row.algorithm == nullptr) {
        const std::vector<Part> parts = played.parts_of(row.previous, collective, bytes);
        if (!parts.empty()) least = played.seconds_of(parts, k_any_seconds, 1, [](const Part&) { return 1; });
        return least;
      }
      for (Variant* const variant : worth_a_price(variants(collective), terrain, machine, bytes)) {
        if (variant->algorithm != row.algorithm) continue;
        if (!row.values.all().empty() && variant->options.values != row.values) continue;
        const double seconds = variant->seconds(terrain, machine, bytes);
        if (!variant->refusal.empty()) continue;
        least = std::min(seconds, least.value_or(seconds));
      }
      return least;
    };
    return made.emplace(collective, *measured, model);
  }

  double factor(const Variant& variant, std::size_t bytes) {
    return measured == nullptr
               ? 1
               : fitted(variant.shape.collective).factor(variant.algorithm, variant.options.values, bytes);
  }
  // Of a part of what the previous component does: its own, if it was measured; that of the same algorithm of ours; on
  // another level, or of another collective, as all calls are.
  double factor(const Part& part, const Request& request, std::size_t bytes) {
    if (measured == nullptr) return 1;
    const Fits& all_fits = fitted(request.collective);
    if (const auto own = all_fits.factor_of_previous(request.previous, bytes)) return *own;
    const bool is_ours = part.level == Level::all && part.collective == request.collective;
    return is_ours ? all_fits.factor(algorithm_named(part.algorithm), {}, bytes) : all_fits.common(bytes);
  }
  // Of one that cannot be made there is none: it has a refusal then, which is noted to be said.
  double price(Variant& variant, std::size_t bytes) {
    const bool was_good = variant.refusal.empty();
    const double seconds = factor(variant, bytes) * variant.seconds(terrain, machine, bytes);
    if (was_good && !variant.refusal.empty())
      unmade.push_back(
          fmt::format("{}: {} {}; it is no candidate", name(variant.shape.collective), variant.name, variant.refusal));
    return seconds;
  }
  // No price is below it.
  double least_price(const Variant& variant, std::size_t bytes) {
    return factor(variant, bytes) * variant.least_seconds(terrain, machine, bytes);
  }

  AlgorithmOptions given_for(Collective collective) const {
    AlgorithmOptions given = options;
    given.values.set(values[static_cast<std::size_t>(collective)]);
    return given;
  }

  std::vector<Variant>& variants(Collective collective) {
    auto& known = all[static_cast<std::size_t>(collective)];
    if (known) return *known;
    auto made = std::make_unique<std::vector<Variant>>();
    for (const Algorithm& algorithm : algorithms()) {
      const Rank ranks = terrain.nodes->ranks();
      const AlgorithmOptions given = given_for(collective);
      const Shape shape{collective, ranks, 1, 0};
      if (!serves(algorithm, collective)) continue;
      if (algorithm.repeats && algorithm.refusal(shape, given).empty() && algorithm.repeats(shape, given)) continue;
      for (Variant& variant : variants_of(algorithm, collective, given, ranks)) made->push_back(std::move(variant));
    }
    return *(known = std::move(made));
  }

  std::vector<Variant>& variants(const Algorithm& algorithm, const AlgorithmOptions& wanted, Collective collective) {
    for (Named& one : named) {
      if (one.algorithm == &algorithm && one.collective == collective && one.given == wanted) return one.variants;
    }
    AlgorithmOptions given = given_for(collective);
    if (wanted.groups) given.groups = wanted.groups;
    if (!wanted.dimensions.empty()) given.dimensions = wanted.dimensions;
    given.values.set(wanted.values);
    std::vector<Variant> found = variants_of(algorithm, collective, given, terrain.nodes->ranks());
    named.push_back({&algorithm, collective, wanted, std::move(found)});
    return named.back().variants;
  }

  // Null: not measured, or none of ours was: a time beside what a model says decides nothing.
  const MeasuredRow* measured_previous(const Request& request) const {
    if (measured == nullptr || std::ranges::none_of(*measured, [&](const MeasuredRow& one) {
          return one.algorithm != nullptr && one.collective == request.collective;
        }))
      return nullptr;
    const auto row = std::ranges::find_if(*measured, [&](const MeasuredRow& one) {
      return one.algorithm == nullptr && one.collective == request.collective && one.previous == request.previous &&
             !one.times.empty();
    });
    return row == measured->end() ? nullptr : &*row;
  }

  // Nothing: it is not allowed, or nothing is known of the component.
  // What is clearly behind `best` seconds, of which a `lead` is asked, has no exact price.
  std::optional<Candidate> fallback(const Request& request, std::size_t bytes, double best = k_any_seconds,
                                    double lead = 1) {
    if (!request.fallback_allowed) return std::nullopt;
    const std::vector<Part> parts = played.parts_of(request.previous, request.collective, bytes);
    const MeasuredRow* const times = measured_previous(request);
    Candidate candidate;
    if (!parts.empty()) {
      candidate.seconds =
          played.seconds_of(parts, best, lead, [&](const Part& part) { return factor(part, request, bytes); });
      candidate.name =
          fmt::format("fallback (priced as {}{})", played.names_of(parts), times == nullptr ? "" : ", measured");
    } else if (times != nullptr) {
      candidate.seconds = seconds_between(times->times, bytes);
      candidate.name = "fallback (measured)";
    } else {
      return std::nullopt;
    }
    return candidate;
  }

  double lead(const Request& request, const Algorithm* candidate) {
    if (request.tried) return k_tried_lead;
    const bool both = measured_previous(request) != nullptr && fitted(request.collective).has(candidate);
    return both ? k_lead_measured : k_lead_untried;
  }

  std::size_t number_of(std::string_view component) {
    const auto found = std::ranges::find(previous, component);
    if (found == previous.end()) return previous.emplace_back(component), previous.size() - 1;
    return static_cast<std::size_t>(found - previous.begin());
  }

  Candidate candidate_of(Variant& variant, const Request& request, std::size_t bytes) {
    const double seconds = price(variant, bytes);
    return {variant.algorithm, variant.options, variant.name, seconds, exclusion_of(variant, request, bytes)};
  }

  // One in slices, beside what it is without them.
  bool is_behind_whole(const Variant& variant, std::span<Variant* const> among, std::size_t bytes, double seconds) {
    if (!variant.is_sliced()) return false;
    return std::ranges::any_of(among, [&](Variant* whole) {
      return whole->has_price() && variant.is_of(*whole) &&
             factor(variant, bytes) * variant.least_seconds_beside(*whole, terrain, machine, bytes) > seconds;
    });
  }

  // As candidates() has it first, without prices of what cannot come first: what may be cheapest goes before, and what
  // cannot be as cheap as the best so far is not priced.
  Candidate cheapest(std::vector<Variant>& among, const Request& request, std::size_t bytes,
                     std::span<const Candidate> without = {}) {
    std::vector<Variant*> worth = worth_a_price(among, terrain, machine, bytes);
    std::erase_if(worth, [&](const Variant* variant) {
      return std::ranges::find(without, variant->algorithm, &Candidate::algorithm) != without.end();
    });
    if (worth.empty()) return {nullptr, {}, "fallback", 0, "nothing serves the call"};
    Variant* const first = worth.front();
    struct Bounded {
      Variant* variant;
      double least;
    };
    std::vector<Bounded> open;
    for (Variant* const variant : worth)
      if (exclusion_of(*variant, request, bytes).empty()) open.push_back({variant, least_price(*variant, bytes)});
    std::ranges::stable_sort(open, {}, &Bounded::least);
    Variant* best = nullptr;
    double seconds = 0;
    for (const auto& [variant, least] : open) {
      if (best != nullptr && (least > seconds || is_behind_whole(*variant, worth, bytes, seconds))) continue;
      const double one = price(*variant, bytes);
      if (!exclusion_of(*variant, request, bytes).empty()) continue;
      if (best != nullptr && (one > seconds || (one == seconds && best < variant))) continue;
      best = variant;
      seconds = one;
    }
    if (best == nullptr)
      return {first->algorithm, first->options, first->name, 0, exclusion_of(*first, request, bytes)};
    return {best->algorithm, best->options, best->name, seconds, ""};
  }

  Candidate decided(const Request& request, std::size_t bytes) {
    Candidate unknown{nullptr, {}, "fallback", 0, ""};
    if (request.fallback_allowed && measured_previous(request) == nullptr &&
        played.parts_of(request.previous, request.collective, bytes).empty())
      return unknown;
    Candidate best = cheapest(variants(request.collective), request, bytes);
    double to_beat = k_any_seconds;
    if (best.excluded.empty()) to_beat = best.seconds;
    const double ahead = lead(request, best.algorithm);
    std::optional<Candidate> left = fallback(request, bytes, to_beat, ahead);
    if (left && (!best.excluded.empty() || best.seconds >= ahead * left->seconds)) return *std::move(left);
    return best.excluded.empty() ? best : unknown;
  }

  // `sizes_of`: of which it is the choice, asked when it is known.
  template <typename Decide, typename SizesOf>
  const Choice& kept(const Key& key, Decide decide, SizesOf sizes_of) {
    if (const auto found = choices.find(key); found != choices.end()) return found->second;
    Choice choice;
    static_cast<Candidate&>(choice) = decide();
    const SizeClass sizes = sizes_of();
    choice.from = sizes.from;
    choice.to = sizes.to;
    return choices.emplace(key, std::move(choice)).first->second;
  }
};

Chooser::Chooser(Rank ranks, Placement placement, Machine machine, AlgorithmOptions options, CollectiveValues values,
                 MeasuredRows measured)
    : state_(nullptr) {
  placement.node_of.resize(static_cast<std::size_t>(ranks), 0);
  state_ = std::make_unique<State>(std::move(placement), machine, std::move(options), std::move(values),
                                   std::move(measured));
}

Chooser::~Chooser() = default;

const Placement& Chooser::placement() const { return state_->terrain.placement; }
int Chooser::nodes() const { return state_->terrain.nodes->groups(); }
int Chooser::ranks_per_node() const { return state_->terrain.nodes->largest(); }
const AlgorithmOptions& Chooser::options() const { return state_->options; }

std::vector<Candidate> Chooser::candidates(const Request& request) {
  const std::lock_guard lock(state_->mutex);
  const std::size_t bytes = size_class_of(request.bytes).from;
  std::vector<Candidate> all;
  for (Variant* const variant :
       worth_a_price(state_->variants(request.collective), state_->terrain, state_->machine, bytes))
    all.push_back(state_->candidate_of(*variant, request, bytes));
  if (auto fallback = state_->fallback(request, bytes)) all.push_back(*std::move(fallback));
  std::ranges::stable_sort(all, better);
  return all;
}

std::vector<Candidate> Chooser::leading(const Request& request, std::size_t most) {
  const std::lock_guard lock(state_->mutex);
  const std::size_t bytes = size_class_of(request.bytes).from;
  std::vector<Candidate> all;
  while (all.size() < most) {
    Candidate next = state_->cheapest(state_->variants(request.collective), request, bytes, all);
    if (!next.excluded.empty()) break;
    all.push_back(std::move(next));
  }
  return all;
}

std::vector<Candidate> Chooser::siblings(const Request& request, const Candidate& leading, double seconds) {
  const std::lock_guard lock(state_->mutex);
  const std::size_t bytes = size_class_of(request.bytes).from;
  std::vector<Candidate> all;
  for (Variant* const variant :
       worth_a_price(state_->variants(request.collective), state_->terrain, state_->machine, bytes)) {
    const bool is_sibling = variant->algorithm == leading.algorithm && variant->options != leading.options;
    if (!is_sibling || !exclusion_of(*variant, request, bytes).empty()) continue;
    if (state_->least_price(*variant, bytes) > seconds) continue;
    Candidate sibling = state_->candidate_of(*variant, request, bytes);
    if (sibling.excluded.empty() && sibling.seconds <= seconds) all.push_back(std::move(sibling));
  }
  std::ranges::stable_sort(all, better);
  return all;
}

const Choice& Chooser::choose(const Request& request) {
  const std::lock_guard lock(state_->mutex);
  const SizeClass sizes = size_class_of(request.bytes);
  const auto* const among = state_->all[static_cast<std::size_t>(request.collective)].get();
  Key key{among,
          sizes.from,
          state_->number_of(request.previous),
          request.commutative,
          request.associative_bits,
          request.fallback_allowed,
          request.tried};
  if (among == nullptr) key.among = &state_->variants(request.collective);
  return state_->kept(
      key, [&] { return state_->decided(request, sizes.from); }, [&] { return sizes; });
}

double Chooser::lead_over_previous(const Request& request, const Algorithm* candidate) {
  const std::lock_guard lock(state_->mutex);
  return state_->lead(request, candidate);
}

bool Chooser::has_measured(const Request& request) {
  const std::lock_guard lock(state_->mutex);
  if (state_->measured == nullptr || !state_->fitted(request.collective).has_any()) return false;
  if (!request.fallback_allowed) return true;
  const MeasuredRow* const previous = state_->measured_previous(request);
  return previous != nullptr && previous->times.front().bytes <= request.bytes;
}

const Choice& Chooser::price(const Algorithm& algorithm, const AlgorithmOptions& options, const Request& request) {
  const std::lock_guard lock(state_->mutex);
  const SizeClass sizes = size_class_of(request.bytes);
  auto& among = state_->variants(algorithm, options, request.collective);
  const Key key{&among, sizes.from, 0, request.commutative, request.associative_bits, true, true};
  // What has no variants is the same at every size that it can serve, and at every other; its price is that of this
  // one.
  const auto alike = [&]() -> SizeClass {
    if (among.size() > 1) return sizes;
    const std::size_t most = among.front().most_bytes();
    if (most == k_any_bytes) return {0, k_any_bytes};
    return sizes.from <= most ? SizeClass{0, most + 1} : SizeClass{most + 1, k_any_bytes};
  };
  return state_->kept(
      key, [&] { return state_->cheapest(among, request, sizes.from); }, alike);
}

std::optional<Chooser::Measured> Chooser::measured(const Algorithm* algorithm, const AlgorithmOptions& options,
                                                   const Request& request) {
  if (!has_measured(request)) return std::nullopt;
  const std::size_t bytes = size_class_of(request.bytes).from;
  if (algorithm != nullptr) {
    const Choice& found = price(*algorithm, options, request);
    if (!found.excluded.empty()) return std::nullopt;
    const std::lock_guard lock(state_->mutex);
    return Measured{found.seconds, state_->fitted(request.collective).error(algorithm, found.options.values, bytes)};
  }
  const std::lock_guard lock(state_->mutex);
  const auto previous = state_->fallback(request, bytes);
  if (!previous) return std::nullopt;
  return Measured{previous->seconds, error_between(state_->measured_previous(request)->times, bytes)};
}

std::vector<std::string> Chooser::unmade() {
  const std::lock_guard lock(state_->mutex);
  return state_->unmade;
}

std::optional<double> Chooser::expected_error() {
  const std::lock_guard lock(state_->mutex);
  if (state_->measured == nullptr) return std::nullopt;
  std::vector<double> errors;
  for (const CollectiveRow& row : collectives()) {
    const std::vector<double>& some = state_->fitted(row.collective).errors();
    errors.insert(errors.end(), some.begin(), some.end());
  }
  if (errors.empty()) return std::nullopt;
  std::ranges::sort(errors);
  return errors[errors.size() / 2];
}

}  // namespace colltopo
