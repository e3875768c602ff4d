// Path Gauss-Seidel on the exponential potential: rounds of sweeps, the sharpness of the potential, both bounds.
//
// Any lengths bound the optimum from below (duality), any flow from above; the potential's lengths and the flow in hand
// meet there. The gap has two parts: smoothing (largest load - mean load weighted by length) and duality (mean load -
// lower bound); a round of sweeps reduces the latter. Whenever it is the smaller one, the coarse rounds double beta;
// the fine rounds keep beta and take the lengths for the priors of the next, which converges where ever larger betas
// would not let a sweep move anything (at 1,000 hosts 0.1% in 3 s instead of 12 s, and 0.01% at all).
#include "synthesis/path_gauss_seidel.h"

#include <algorithm>
#include <chrono>

#include "synthesis/flow_sweep.h"

namespace colltopo {

namespace {

constexpr double k_first_beta = 10;
constexpr double k_fine_beta = 40;
constexpr double k_fine_gap = 0.06;        // where fine rounds begin
constexpr double k_duality_part = 0.7;     // duality below this part of smoothing: the flow fits the potential
constexpr int k_pool_sweeps = 2;           // before the sweep of a fine round that finds new paths
constexpr double k_highest_floor = 0.007;  // of priors; less as the gap closes
constexpr double k_lowest_floor = 1e-12;
constexpr double k_floor_part = 0.1;
// A solution that has not come nearer by this part in so many rounds does not get any nearer.
constexpr double k_progress = 0.02;
constexpr int k_patience = 300;

class Rounds {
 public:
  Rounds(const FlowInstance& instance, const SynthesisOptions& options)
      : instance_(instance), options_(options), flow_(instance, options.threads, options.seed) {}

  FlowSolution run() {
    begin();
    do {
      const bool fits = fine_ ? fine_round() : coarse_round();
      if (options_.progress) options_.progress({.time = time_, .time_lower = solution_.time_lower, .lengths = {}});
      sharpen(fits);
    } while (!finished());
    return finish();
  }

 private:
  using Clock = std::chrono::steady_clock;

  LinkPotential& potential() { return flow_.potential(); }
  double gap() const { return time_ / solution_.time_lower - 1; }

  void begin() {
    // Lengths 1 / capacity: the distance bound, which is also the first guess of the time.
    certify(flow_.sum_of_distances(potential().lengths()), potential().lengths(), potential().volume());
    if (options_.start == nullptr) {
      potential().set(k_first_beta, solution_.time_lower);
    } else {
      flow_.start_from(*options_.start);
      fine_ = true;
      beta_ = k_fine_beta;
      potential().set(beta_, std::max(potential().largest(), solution_.time_lower));
    }
    flow_.sweep_with_new_paths({});
  }

  /// Paths by the lengths of the moment. Returns whether the flow fits the potential.
  bool coarse_round() {
    potential().set(beta_, potential().largest());
    flow_.sweep_with_new_paths({});
    potential().set(beta_, potential().largest());
    const double mean = potential().mean(), volume = potential().volume();
    const double lower = flow_.sum_of_distances(potential().lengths()) / volume;
    certify(lower * volume, potential().lengths(), volume);
    time_ = potential().largest();
    return mean - lower < k_duality_part * (time_ - mean);
  }

  /// New paths by the lengths from which the sweep for them starts, so that the same trees certify these.
  bool fine_round() {
    for (int i = 0; i < k_pool_sweeps; ++i) {
      potential().set(beta_, potential().largest());
      flow_.sweep_pools();
    }
    potential().set(beta_, potential().largest());
    const std::vector<double> lengths(potential().lengths().begin(), potential().lengths().end());
    const double mean = potential().mean(), volume = potential().volume(), smoothing = potential().largest() - mean;
    const double lower = flow_.sweep_with_new_paths(lengths) / volume;
    certify(lower * volume, lengths, volume);
    time_ = potential().largest();
    return mean - lower < k_duality_part * smoothing;
  }

  void certify(double distances, std::span<const double> lengths, double volume) {
    if (distances / volume <= solution_.time_lower) return;
    solution_.time_lower = distances / volume;
    solution_.class_lengths.assign(lengths.begin(), lengths.end());
  }

  void sharpen(bool fits) {
    if (!fine_ && gap() <= k_fine_gap) {
      fine_ = true;
      beta_ = k_fine_beta;
    } else if (!fine_ && fits) {
      beta_ *= 2;
    } else if (fits) {
      potential().set(beta_, potential().largest());
      potential().absorb(std::clamp(k_floor_part * gap(), k_lowest_floor, k_highest_floor));
    }
  }

  bool finished() {
    ++round_;
    if (gap() < nearest_ * (1 - k_progress)) {
      nearest_ = gap();
      nearest_round_ = round_;
    }
    return gap() <= options_.gap || round_ - nearest_round_ > k_patience ||
           std::chrono::duration<double>(Clock::now() - began_).count() > options_.seconds;
  }

  FlowSolution finish() {
    solution_.routing = flow_.routing();
    const std::vector<double> loads = class_loads(instance_, solution_.routing);
    for (std::size_t e = 0; e < loads.size(); ++e)
      solution_.time = std::max(solution_.time, loads[e] / instance_.class_capacity[e]);
    return std::move(solution_);
  }

  const FlowInstance& instance_;
  const SynthesisOptions& options_;
  const Clock::time_point began_ = Clock::now();
  FlowSweep flow_;
  FlowSolution solution_;  // the routing at the end
  double time_ = 0;        // of the flow in hand
  double beta_ = k_first_beta;
  bool fine_ = false;
  int round_ = 0;
  int nearest_round_ = 0;
  double nearest_ = std::numeric_limits<double>::infinity();  // the smallest gap so far
};

}  // namespace

FlowSolution path_gauss_seidel(const FlowInstance& instance, const SynthesisOptions& options) {
  require_all_pairs(*instance.topology);
  return Rounds(instance, options).run();
}

}  // namespace colltopo
