// Sweeps over fixed pools of paths.
#include "synthesis/methods/mcf_path.h"

#include <algorithm>
#include <numeric>

#include "base/parallel.h"
#include "synthesis/methods.h"
#include "synthesis/paths/candidate_paths.h"
#include "synthesis/sweep/flow_sweep.h"
#include "synthesis/sweep/round_control.h"

namespace colltopo::synthesis {

namespace {

/// The sum over pairs of the shortest of their paths, whatever its weight.
double sum_of_shortest(const std::vector<PathPool>& pools, std::span<const double> lengths, int threads) {
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
      if (pool.first(target) < pool.first(target + 1)) sums[source] += shortest;
    }
  });
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

}  // namespace

double time_lower_of_paths(const Topology& topology, const Routing& paths, std::span<const double> lengths) {
  const std::vector<double> capacity = capacities(topology);
  double volume = 0, sum = 0, shortest = 0;
  for (std::size_t link = 0; link < lengths.size(); ++link) volume += lengths[link] * capacity[link];
  WeightedPath last;
  for (std::size_t i = 0; i < paths.paths(); ++i) {
    const WeightedPath path = paths.path(i);
    double length = 0;
    for (const LinkId link : path.links) length += lengths[static_cast<std::size_t>(link)];
    const bool same_pair = path.source == last.source && path.target == last.target;
    if (!same_pair) sum += shortest;
    shortest = same_pair ? std::min(shortest, length) : length;
    last = path;
  }
  return volume > 0 ? (sum + shortest) / volume : 0;
}

namespace {

constexpr int k_sweeps = 2;                 // of a round
constexpr int k_rounds_between_bounds = 4;  // on all routings

/// Rounds as those of path_gauss_seidel(), on paths that stay the same.
class Rounds {
 public:
  Rounds(const Topology& topology, const Routing& paths, const SynthesisOptions& options)
      : topology_(topology),
        options_(options),
        instance_(whole_instance(topology)),
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
    synthesis_.bound.time = all_to_all_time(topology_, link_loads(topology_, synthesis_.routing));
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
    const double lower = sum_of_shortest(flow_.pools(), potential().lengths(), options_.threads) / volume;
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
    return control_.ended(gap_of_paths(), synthesis_.bound.gap() <= options_.gap || gap_of_paths() <= options_.gap / 4);
  }

  const Topology& topology_;
  const SynthesisOptions& options_;
  const FlowInstance instance_;
  RoundControl control_;
  FlowSweep flow_;
  Synthesis synthesis_;
  int certified_ = 0;  // rounds
};

}  // namespace

Synthesis best_weights(const Topology& topology, const Routing& paths, const SynthesisOptions& options) {
  SynthesisOptions own = options;
  own.team = nullptr;
  return Rounds(topology, paths, own).run();
}

namespace {

Synthesis make(const Topology& topology, const SynthesisOptions& options) {
  constexpr std::size_t k_most_columns = 5000;  // about a second of Clp
  const CandidatePaths candidates = candidate_paths(topology, options);
  Synthesis synthesis = candidates.paths.paths() <= k_most_columns
                            ? best_weights_exactly(topology, candidates.paths, options)
                            : best_weights(topology, candidates.paths, options);
  synthesis.remark = candidates.remark();
  return synthesis;
}

}  // namespace

RoutingMethod mcf_path_method() {
  return {"mcf-path", "the best weights on disjoint, shortest or bounded paths (pMCF)", candidate_refusal, make};
}

}  // namespace colltopo::synthesis
