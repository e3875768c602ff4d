// Path Gauss-Seidel on the exponential potential: sweeps, the sharpness of the potential, both bounds.
//
// Any lengths bound the optimum from below (duality), any flow from above; the potential's lengths and the flow in hand
// meet there. The gap has two parts: smoothing (largest load - mean load weighted by length) falls with beta, duality
// (mean load - lower bound) with sweeps. Beta doubles when the duality part is the smaller one.
#include "synthesis/path_gauss_seidel.h"

#include <algorithm>
#include <chrono>

#include "synthesis/flow_sweep.h"

namespace colltopo {

namespace {

constexpr double k_first_beta = 10;
constexpr int k_pool_sweeps = 2;  // between two rounds of new paths

}  // namespace

FlowSolution path_gauss_seidel(const FlowInstance& instance, const SynthesisOptions& options) {
  require_all_pairs(*instance.topology);
  const auto begin = std::chrono::steady_clock::now();
  const auto elapsed_s = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  FlowSweep flow(instance, options.threads, options.seed);
  LinkPotential& potential = flow.potential();
  FlowSolution solution;
  const auto certify = [&](double distances, std::span<const double> lengths, double volume) {
    if (distances / volume <= solution.time_lower) return;
    solution.time_lower = distances / volume;
    solution.class_lengths.assign(lengths.begin(), lengths.end());
  };

  // Lengths 1 / capacity: the distance bound, which is also the first guess of the time.
  certify(flow.sum_of_distances(potential.lengths()), potential.lengths(), potential.volume());
  double beta = k_first_beta;
  if (options.start != nullptr) flow.start_from(*options.start);
  potential.set(beta, solution.time_lower);
  flow.sweep_with_new_paths({});
  for (;;) {
    for (int i = 0; i < k_pool_sweeps; ++i) {
      potential.set(beta, potential.largest());
      flow.sweep_pools();
    }
    potential.set(beta, potential.largest());
    const std::vector<double> lengths(potential.lengths().begin(), potential.lengths().end());
    const double smoothing = potential.largest() - potential.mean(), mean = potential.mean();
    const double volume = potential.volume();
    const double distances = flow.sweep_with_new_paths(lengths);
    certify(distances, lengths, volume);
    solution.time = potential.largest();
    if (options.progress) options.progress({solution.time, solution.time_lower, {}});
    if (solution.gap() <= options.gap || elapsed_s() > options.seconds) break;
    if (mean - distances / volume < smoothing) beta *= 2;
  }

  solution.routing = flow.routing();
  const std::vector<double> loads = class_loads(instance, solution.routing);
  solution.time = 0;
  for (std::size_t e = 0; e < loads.size(); ++e)
    solution.time = std::max(solution.time, loads[e] / instance.class_capacity[e]);
  return solution;
}

}  // namespace colltopo
