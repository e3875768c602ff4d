// The lightest paths of all pairs, one after the other: each goes where its pair has a path with room for it.
#include "synthesis/paths/fewer_paths.h"

#include <algorithm>

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
  void give_up(std::size_t path) {
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
        return;
      }
      add(path, load);
    }
  }

  Routing result() const {
    Routing merged(routing_.hosts());
    for (std::size_t path = 0; path < routing_.paths(); ++path)
      if (const WeightedPath here = routing_.path(path); weights_[path] > 0)
        merged.add(here.source, here.target, weights_[path], here.links);
    return merged;
  }

 private:
  std::size_t class_of(LinkId link) const {
    return static_cast<std::size_t>(instance_.link_class[static_cast<std::size_t>(link)]);
  }
  void add(std::size_t path, double load) {
    for (const LinkId link : routing_.path(path).links) loads_[class_of(link)] += load;
  }
  /// A path may cross several links of a class: the load is put there to see, and taken away again.
  bool fits(std::size_t path, double load) {
    add(path, load);
    const auto links = routing_.path(path).links;
    const bool within = std::all_of(links.begin(), links.end(),
                                    [&](LinkId link) { return loads_[class_of(link)] <= limits_[class_of(link)]; });
    add(path, -load);
    return within;
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
  return merging.result();
}

}  // namespace colltopo::synthesis
