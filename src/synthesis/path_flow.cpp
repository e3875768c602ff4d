// Sweeps over fixed pools of paths.
#include "synthesis/path_flow.h"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "synthesis/candidate_paths.h"
#include "synthesis/flow_sweep.h"
#include "synthesis/methods.h"
#include "synthesis/parallel.h"

namespace colltopo {

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

Synthesis best_weights(const Topology& topology, const Routing& paths, const SynthesisOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  const FlowInstance instance = whole_instance(topology);
  FlowSweep flow(instance, options.threads, options.seed);
  LinkPotential& potential = flow.potential();
  flow.start_from(paths);

  Synthesis synthesis;
  double beta = 10;
  for (int round = 0;; ++round) {
    const double time = potential.largest();
    potential.set(beta, time);
    const std::vector<double> lengths(potential.lengths().begin(), potential.lengths().end());
    const double lower = sum_of_shortest(flow.pools(), lengths, options.threads) / potential.volume();
    // The gap is smoothing (largest load over the mean one) and lack of balance (mean load over the bound).
    const bool too_smooth = potential.mean() / lower < time / potential.mean();
    synthesis.time_lower_of_paths = std::max(synthesis.time_lower_of_paths, lower);
    constexpr int k_rounds_between_bounds = 4;
    if (round % k_rounds_between_bounds == 0) {
      const double unrestricted = flow.sum_of_distances(lengths) / potential.volume();
      if (unrestricted > synthesis.bound.time_lower) {
        synthesis.bound.time_lower = unrestricted;
        synthesis.bound.lengths = lengths;
      }
    }
    synthesis.bound.time = time;
    if (options.progress) options.progress(synthesis.bound);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    if (synthesis.bound.gap() <= options.gap || time / synthesis.time_lower_of_paths - 1 <= options.gap / 10 ||
        elapsed.count() > options.seconds)
      break;
    if (too_smooth) beta *= 2;
    flow.sweep_pools();
  }
  synthesis.routing = flow.routing();
  synthesis.bound.time = all_to_all_time(topology, link_loads(topology, synthesis.routing));
  return synthesis;
}

namespace {

Synthesis make(const Topology& topology, const SynthesisOptions& options) {
  const CandidatePaths candidates = candidate_paths(topology, options);
  Synthesis synthesis = best_weights(topology, candidates.paths, options);
  synthesis.remark = candidates.remark();
  return synthesis;
}

}  // namespace

RoutingMethod mcf_path_method() {
  return {"mcf-path", "the best weights on disjoint, shortest or bounded paths (pMCF)", candidate_refusal, make};
}

}  // namespace colltopo
