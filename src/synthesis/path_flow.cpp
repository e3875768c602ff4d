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

Synthesis best_weights(const Topology& topology, const Routing& paths, const SynthesisOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  const FlowInstance instance = whole_instance(topology);
  FlowSweep flow(instance, options.threads, options.seed);
  LinkPotential& potential = flow.potential();
  flow.start_from(paths);

  Synthesis synthesis;
  constexpr double k_first_beta = 10, k_last_beta = 1e8;  // beyond, rounding hides what a step gains
  double beta = k_first_beta;
  for (int round = 0;; ++round) {
    const double time = potential.largest();
    potential.set(beta, time);
    const std::vector<double> lengths(potential.lengths().begin(), potential.lengths().end());
    const double lower = sum_of_shortest(flow.pools(), lengths, options.threads) / potential.volume();
    // The gap is smoothing (largest load over the mean one) and lack of balance (mean load over the bound).
    const bool too_smooth = potential.mean() / lower < time / potential.mean();
    constexpr int k_rounds_between_bounds = 4;
    if (round % k_rounds_between_bounds == 0) {
      const double unrestricted = flow.sum_of_distances(lengths) / potential.volume();
      if (unrestricted > synthesis.bound.time_lower) {
        synthesis.bound.time_lower = unrestricted;
        synthesis.bound.lengths = lengths;
      }
    }
    synthesis.time_lower_of_paths = std::max({synthesis.time_lower_of_paths, synthesis.bound.time_lower, lower});
    synthesis.bound.time = time;
    if (options.progress) options.progress(synthesis.bound);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    if (synthesis.bound.gap() <= options.gap || time / synthesis.time_lower_of_paths - 1 <= options.gap / 4 ||
        elapsed.count() > options.seconds || beta > k_last_beta)
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

}  // namespace colltopo
