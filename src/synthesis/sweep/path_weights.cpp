// Sweeps over fixed pools of paths.
#include "synthesis/sweep/path_weights.h"

#include <algorithm>
#include <numeric>

#include "base/parallel.h"
#include "synthesis/sweep/flow_sweep.h"
#include "synthesis/sweep/round_control.h"

namespace colltopo::synthesis {

namespace {

/// The sum over pairs of demand times the shortest of their paths, whatever its weight.
double sum_of_shortest(const FlowInstance& instance, const std::vector<PathPool>& pools,
                       std::span<const double> lengths, int threads) {
  std::vector<double> sums(pools.size(), 0);
  for_each_index(pools.size(), threads, [&](std::size_t source, unsigned) {
    const PathPool& pool = pools[source];
    for (NodeId target = 0; target < static_cast<NodeId>(pool.targets()); ++target) {
      double shortest = std::numeric_limits<double>::infinity();
      for (std::size_t path = pool.first(target); path < pool.first(target + 1); ++path) {
        double length = 0;
        for (const LinkId link : pool.links(path)) length += lengths[static_cast<std::size_t>(link)];
        shortest = std::min(shortest, length);
      }
      if (pool.first(target) < pool.first(target + 1)) sums[source] += instance.demand(source, target) * shortest;
    }
  });
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

constexpr int k_sweeps = 2;                 // of a round
constexpr int k_rounds_between_bounds = 4;  // on all routings

/// Rounds on paths that stay the same.
class WeightRounds {
 public:
  WeightRounds(const Topology& topology, const Routing& paths, const SynthesisOptions& options)
      : topology_(topology),
        options_(options),
        instance_(whole_instance(topology, options.demand)),
        control_(options),
        flow_(instance_, options) {
    flow_.start_from(paths);
  }

  Synthesis run() {
    bool fits = certify();
    while (!ended()) {
      control_.sharpen(potential(), gap_of_paths(), fits);
      for (int i = 0; i < k_sweeps; ++i) {
        potential().set(control_.beta(), potential().largest());
        flow_.sweep_pools();
      }
      fits = certify();
    }
    synthesis_.routing = flow_.routing();
    synthesis_.bound.time = all_to_all_time(topology_, class_loads(instance_, synthesis_.routing));
    return std::move(synthesis_);
  }

 private:
  LinkPotential& potential() { return flow_.potential(); }
  double gap_of_paths() const { return synthesis_.bound.time / synthesis_.time_lower_of_paths - 1; }

  /// Both bounds by the lengths of the moment. Returns whether the flow fits the potential.
  bool certify() {
    FlowBound& bound = synthesis_.bound;
    bound.time = potential().largest();
    potential().set(control_.beta(), bound.time);
    const double volume = potential().volume(), mean = potential().mean();
    const double lower = sum_of_shortest(instance_, flow_.pools(), potential().lengths(), options_.threads) / volume;
    if (certified_ % k_rounds_between_bounds == 0) {
      const double of_all = flow_.sum_of_distances(potential().lengths()) / volume;
      if (of_all > bound.time_lower) {
        bound.time_lower = of_all;
        bound.lengths.assign(potential().lengths().begin(), potential().lengths().end());
      }
    }
    synthesis_.time_lower_of_paths = std::max({synthesis_.time_lower_of_paths, bound.time_lower, lower});
    if (options_.progress) options_.progress(bound);
    ++certified_;
    return RoundControl::fits(bound.time, mean, lower);
  }

  bool ended() {
    return control_.ended(gap_of_paths(), gap_of_paths(),
                          synthesis_.bound.gap() <= options_.gap || gap_of_paths() <= options_.gap / 4);
  }

  const Topology& topology_;
  const SynthesisOptions& options_;
  const FlowInstance instance_;
  RoundControl control_;
  FlowSweep flow_;
  Synthesis synthesis_;
  int certified_ = 0;  // rounds
};

/// The paths of pairs that have something for each other.
Routing with_demand(const Routing& paths, const Demand& demand) {
  Routing some(paths.hosts());
  for (std::size_t i = 0; i < paths.paths(); ++i)
    if (const WeightedPath path = paths.path(i); demand.bytes(path.source, path.target) > 0)
      some.add(path.source, path.target, path.weight, path.links);
  return some;
}

/// `some`, and of the others the paths in use of pairs without demand.
Routing merged(const Routing& some, const Routing& others, const Demand& demand) {
  Routing all(some.hosts());
  for (std::size_t i = 0, next = 0; i < others.paths() || next < some.paths();) {
    const bool from_some =
        i == others.paths() || (next < some.paths() && std::pair(some.path(next).source, some.path(next).target) <=
                                                           std::pair(others.path(i).source, others.path(i).target));
    const WeightedPath path = from_some ? some.path(next++) : others.path(i++);
    if (from_some || (path.weight > 0 && demand.bytes(path.source, path.target) == 0))
      all.add(path.source, path.target, path.weight, path.links);
  }
  return all;
}

}  // namespace

Synthesis best_weights(const Topology& topology, const Routing& paths, const SynthesisOptions& options) {
  SynthesisOptions own = options;
  own.team = nullptr;
  if (own.demand == nullptr) return WeightRounds(topology, paths, own).run();
  Synthesis synthesis = WeightRounds(topology, with_demand(paths, *own.demand), own).run();
  synthesis.routing = merged(synthesis.routing, paths, *own.demand);
  return synthesis;
}

}  // namespace colltopo::synthesis
