// The concurrent flow of an instance to a certified gap: path Gauss-Seidel on the exponential potential.
#pragma once

#include "synthesis/sweep/flow_instance.h"

namespace colltopo::synthesis {

/// Of `options`: gap, seconds, threads, seed, start (its paths that exist here are kept), progress. Stops also when
/// many rounds have come no nearer, which happens below 1e-6: look at the gap of the result. The result is the same for
/// any number of threads, unless the seconds end it. Throws Error naming hosts that cannot reach the others. With
/// options.team its members do it together: bounds, loads, lengths and trees are equal on all, rank 0 has the routing.
FlowSolution path_gauss_seidel(const FlowInstance& instance, const SynthesisOptions& options,
                               Answer answer = Answer::routing);

}  // namespace colltopo::synthesis
