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

namespace {

constexpr double k_first_beta = 10;
constexpr double k_fine_beta = 40;
constexpr double k_fine_gap = 0.06;         // where fine rounds begin
constexpr double k_duality_part = 0.7;      // duality below this part of smoothing: the flow fits the potential
constexpr int k_sweeps = 2;                 // of a round
constexpr int k_rounds_between_bounds = 4;  // on all routings
constexpr double k_highest_floor = 0.007, k_lowest_floor = 1e-12, k_floor_part = 0.1;  // of priors
// Weights that have not come nearer by this part in so many rounds do not get any nearer.
constexpr double k_progress = 0.02;
constexpr int k_patience = 300;

/// Rounds as those of path_gauss_seidel(), on paths that stay the same.
class Rounds {
 public:
  Rounds(const Topology& topology, const Routing& paths, const SynthesisOptions& options)
      : topology_(topology),
        options_(options),
        instance_(whole_instance(topology)),
        flow_(instance_, options.threads, options.seed) {
    flow_.start_from(paths);
  }

  Synthesis run() {
    bool fits = certify();
    while (!finished()) {
      sharpen(fits);
      for (int i = 0; i < k_sweeps; ++i) {
        potential().set(beta_, potential().largest());
        flow_.sweep_pools();
      }
      fits = certify();
    }
    synthesis_.routing = flow_.routing();
    synthesis_.bound.time = all_to_all_time(topology_, link_loads(topology_, synthesis_.routing));
    return std::move(synthesis_);
  }

 private:
  using Clock = std::chrono::steady_clock;

  LinkPotential& potential() { return flow_.potential(); }
  double gap_of_paths() const { return synthesis_.bound.time / synthesis_.time_lower_of_paths - 1; }

  /// Both bounds by the lengths of the moment. Returns whether the flow fits the potential.
  bool certify() {
    FlowBound& bound = synthesis_.bound;
    bound.time = potential().largest();
    potential().set(beta_, bound.time);
    const double volume = potential().volume(), mean = potential().mean();
    const double lower = sum_of_shortest(flow_.pools(), potential().lengths(), options_.threads) / volume;
    if (round_ % k_rounds_between_bounds == 0) {
      const double of_all = flow_.sum_of_distances(potential().lengths()) / volume;
      if (of_all > bound.time_lower) {
        bound.time_lower = of_all;
        bound.lengths.assign(potential().lengths().begin(), potential().lengths().end());
      }
    }
    synthesis_.time_lower_of_paths = std::max({synthesis_.time_lower_of_paths, bound.time_lower, lower});
    if (options_.progress) options_.progress(bound);
    return mean - lower < k_duality_part * (bound.time - mean);
  }

  void sharpen(bool fits) {
    if (!fine_ && gap_of_paths() <= k_fine_gap) {
      fine_ = true;
      beta_ = k_fine_beta;
    } else if (!fine_ && fits) {
      beta_ *= 2;
    } else if (fits) {
      potential().absorb(std::clamp(k_floor_part * gap_of_paths(), k_lowest_floor, k_highest_floor));
    }
  }

  bool finished() {
    ++round_;
    if (gap_of_paths() < nearest_ * (1 - k_progress)) {
      nearest_ = gap_of_paths();
      nearest_round_ = round_;
    }
    return synthesis_.bound.gap() <= options_.gap || gap_of_paths() <= options_.gap / 4 ||
           round_ - nearest_round_ > k_patience ||
           std::chrono::duration<double>(Clock::now() - began_).count() > options_.seconds;
  }

  const Topology& topology_;
  const SynthesisOptions& options_;
  const Clock::time_point began_ = Clock::now();
  const FlowInstance instance_;
  FlowSweep flow_;
  Synthesis synthesis_;
  double beta_ = k_first_beta;
  bool fine_ = false;
  int round_ = 0;
  int nearest_round_ = 0;
  double nearest_ = std::numeric_limits<double>::infinity();  // the smallest gap so far
};

}  // namespace

Synthesis best_weights(const Topology& topology, const Routing& paths, const SynthesisOptions& options) {
  return Rounds(topology, paths, options).run();
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
