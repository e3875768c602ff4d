#include "synthesis/near_optimal_flow.h"

#include "base/deadline.h"
#include "synthesis/interior_point/path_interior_point.h"
#include "synthesis/sweep/path_gauss_seidel.h"

namespace colltopo::synthesis {

FlowSolution near_optimal_flow(const FlowInstance& instance, const SynthesisOptions& options, double start_gap,
                               Answer answer) {
  constexpr double k_coarse_gap = 1e-4;
  constexpr std::size_t k_most_classes = 12000;
  const Deadline deadline(options.seconds);
  const bool refine =
      instance.traffic == nullptr && options.gap < k_coarse_gap && instance.class_capacity.size() <= k_most_classes;
  SynthesisOptions own = options;
  if (refine) own.gap = start_gap;
  FlowSolution solution = path_gauss_seidel(instance, own, refine ? Answer::routing : answer);
  if (options.team != nullptr) options.team->leave();
  if (options.team != nullptr && options.team->rank() != 0) return solution;
  own.gap = options.gap;
  own.seconds = deadline.seconds_left();
  if (!refine || solution.gap() <= own.gap || own.seconds <= 0) return solution;
  FlowSolution refined = path_interior_point(instance, solution, own);
  refined.trees = solution.trees;
  return refined;
}

}  // namespace colltopo::synthesis
