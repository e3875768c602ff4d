// Sweeps, then the interior point: the road of every flow to a certified gap.
#pragma once

#include "synthesis/sweep/flow_instance.h"

namespace colltopo::synthesis {

/// The gap of the sweeps from which the interior point is the faster one.
constexpr double k_start_gap = 1e-3;

/// Path Gauss-Seidel down to 1e-4, beyond which the interior point is the faster one: it starts where the sweeps have
/// come to `start_gap`. Instances of more than 12,000 classes stay with the sweeps (1.2 GB for its matrix), and so do
/// those with demands of their own. A team shares the sweeps and is left after them; what rank 0 alone goes on with,
/// the others do not see.
FlowSolution near_optimal_flow(const FlowInstance& instance, const SynthesisOptions& options, double start_gap,
                               Answer answer = Answer::routing);

}  // namespace colltopo::synthesis
