// The lightest paths of all pairs, one after the other: each goes where its pair has a path with room for it.
//
// A pair that is much of what its source sends has little room anywhere: as many paths as there are ways out times ways
// in, where a few of them could carry the same. Its paths also trade: one goes to a second, whose links are the fuller
// for it, and as much of a third goes to a fourth, which empties them again.
#include "synthesis/paths/fewer_paths.h"

#include <algorithm>
#include <optional>

namespace colltopo::synthesis {

namespace {

/// Paths of the same pair as `path`: [first, last).
struct PairRange {
  std::size_t first = 0;
  std::size_t last = 0;
};

PairRange pair_of(const Routing& routing, std::size_t path) {
  const WeightedPath here = routing.path(path);
  const auto same = [&](std::size_t other) {
    const WeightedPath there = routing.path(other);
    return there.source == here.source && there.target == here.target;
  };
  PairRange range{path, path + 1};
  while (range.first > 0 && same(range.first - 1)) --range.first;
  while (range.last < routing.paths() && same(range.last)) ++range.last;
  return range;
}

class Merging {
 public:
  Merging(const FlowInstance& instance, const Routing& routing, double time)
      : instance_(instance),
        routing_(routing),
        source_of_(static_cast<std::size_t>(instance.topology->hosts())),
        loads_(class_loads(instance, routing)),
        limits_(instance.class_capacity) {
    for (std::size_t i = 0; i < instance.sources.size(); ++i)
      source_of_[static_cast<std::size_t>(instance.sources[i])] = i;
    for (double& limit : limits_) limit *= time;
    weights_.reserve(routing.paths());
    for (std::size_t path = 0; path < routing.paths(); ++path) weights_.push_back(routing.path(path).weight);
  }

  /// Gives the whole share of a path to the heaviest other path of its pair that has room, if one has.
  bool give_up(std::size_t path) {
    const PairRange pair = pair_of(routing_, path);
    std::vector<std::size_t> takers;
    for (std::size_t other = pair.first; other < pair.last; ++other)
      if (other != path && weights_[other] > 0) takers.push_back(other);
    std::stable_sort(takers.begin(), takers.end(),
                     [&](std::size_t a, std::size_t b) { return weights_[a] > weights_[b]; });
    const WeightedPath here = routing_.path(path);
    const double load =
        weights_[path] * instance_.demand(source_of_[static_cast<std::size_t>(here.source)], here.target);
    for (const std::size_t taker : takers) {
      add(path, -load);
      if (fits(taker, load)) {
        add(taker, load);
        weights_[taker] += weights_[path];
        weights_[path] = 0;
        return true;
      }
      add(path, load);
    }
    return false;
  }

  /// Trades of a pair's paths until there are no more, or too many paths to look at.
  void trade(PairRange pair) {
    for (bool gone = true; gone;) {
      std::vector<std::size_t> used;
      for (std::size_t path = pair.first; path < pair.last; ++path)
        if (weights_[path] > 0) used.push_back(path);
      if (used.size() > k_most_traded) return;
      std::ranges::stable_sort(used, {}, [&](std::size_t path) { return weights_[path]; });
      gone = std::ranges::any_of(used, [&](std::size_t path) { return give_up(path) || trade_away(path, used); });
    }
  }
  bool is_heavy(PairRange pair) const {
    const WeightedPath here = routing_.path(pair.first);
    const std::size_t source = source_of_[static_cast<std::size_t>(here.source)];
    double all = 0;
    for (NodeId target = 0; target < instance_.topology->hosts(); ++target)
      if (target != here.source) all += instance_.demand(source, target);
    return instance_.demand(source, here.target) * k_light_part > all;
  }

  Routing result() const {
    Routing merged(routing_.hosts());
    for (std::size_t path = 0; path < routing_.paths(); ++path)
      if (const WeightedPath here = routing_.path(path); weights_[path] > 0)
        merged.add(here.source, here.target, weights_[path], here.links);
    return merged;
  }

 private:
  static constexpr std::size_t k_most_traded = 32;
  static constexpr double k_light_part = 8;

  /// The whole share of a path to `taker`, and as much of another path to a fourth.
  bool trade_away(std::size_t path, const std::vector<std::size_t>& used) {
    const WeightedPath here = routing_.path(path);
    const double weight = weights_[path];
    const double load = weight * instance_.demand(source_of_[static_cast<std::size_t>(here.source)], here.target);
    for (auto taker = used.rbegin(); taker != used.rend(); ++taker) {
      if (*taker == path) continue;
      move(path, *taker, load);
      for (const std::size_t giver : used) {
        if (giver == path || giver == *taker || weights_[giver] < weight) continue;
        const std::optional<std::size_t> last = taker_of(giver, load, path, *taker, used);
        if (!last) continue;
        weights_[path] = 0;
        weights_[*taker] += weight;
        weights_[giver] -= weight;
        weights_[*last] += weight;
        return true;
      }
      move(*taker, path, load);
    }
    return false;
  }
  /// Who may have it from `giver` so that `taker` has room for what it took from `path`; the load then lies there.
  std::optional<std::size_t> taker_of(std::size_t giver, double load, std::size_t path, std::size_t taker,
                                      const std::vector<std::size_t>& used) {
    add(giver, -load);
    if (is_within(taker)) {
      for (auto last = used.rbegin(); last != used.rend(); ++last) {
        if (*last == path || *last == giver || *last == taker) continue;
        add(*last, load);
        if (is_within(*last) && is_within(taker)) return *last;
        add(*last, -load);
      }
    }
    add(giver, load);
    return std::nullopt;
  }
  void move(std::size_t from, std::size_t to, double load) {
    add(from, -load);
    add(to, load);
  }

  std::size_t class_of(LinkId link) const {
    return static_cast<std::size_t>(instance_.link_class[static_cast<std::size_t>(link)]);
  }
  void add(std::size_t path, double load) {
    for (const LinkId link : routing_.path(path).links) loads_[class_of(link)] += load;
  }
  /// A path may cross several links of a class: the load is put there to see, and taken away again.
  bool fits(std::size_t path, double load) {
    add(path, load);
    const bool within = is_within(path);
    add(path, -load);
    return within;
  }
  bool is_within(std::size_t path) const {
    return std::ranges::all_of(routing_.path(path).links,
                               [&](LinkId link) { return loads_[class_of(link)] <= limits_[class_of(link)]; });
  }

  const FlowInstance& instance_;
  const Routing& routing_;
  std::vector<std::size_t> source_of_;  // [host] of the instance
  std::vector<double> loads_;           // [class]
  std::vector<double> limits_;          // [class]
  std::vector<double> weights_;         // [path]
};

}  // namespace

Routing with_fewer_paths(const FlowInstance& instance, const Routing& routing, double time) {
  struct Share {
    double weight;
    std::size_t path;
  };
  std::vector<Share> shares;
  for (std::size_t path = 0; path < routing.paths(); ++path)
    if (const double weight = routing.path(path).weight; weight < 1) shares.push_back({weight, path});
  std::sort(shares.begin(), shares.end(), [](const Share& a, const Share& b) {
    return a.weight != b.weight ? a.weight < b.weight : a.path < b.path;
  });
  Merging merging(instance, routing, time);
  for (const Share& share : shares) merging.give_up(share.path);
  for (std::size_t path = 0; instance.traffic != nullptr && path < routing.paths();) {
    const PairRange pair = pair_of(routing, path);
    if (pair.last > pair.first + 2 && merging.is_heavy(pair)) merging.trade(pair);
    path = pair.last;
  }
  return merging.result();
}

}  // namespace colltopo::synthesis
