// Concurrent flow by a primal-dual interior point method on paths that are priced at every iteration: the last digits.
//
// The path formulation (Basu et al., 3.1.4) as "unit demand, smallest largest load": least U such that the paths of a
// pair carry its demand and every class at most U times its capacity. Its duals are the lengths of links. Newton's
// equations, reduced to one row per class, are dense and solved by Cholesky's method; paths enter when they are shorter
// than all that their pair has, leave when they carry nothing. After about twenty iterations both sides agree to nine
// digits. Memory: 8 bytes times the square of the number of classes.
#pragma once

#include "synthesis/sweep/flow_instance.h"

namespace colltopo::synthesis {

/// Starts from the paths and lengths of `start` (or from nothing when it has no paths) and stops at options.gap or
/// options.seconds, or when rounding allows no progress. The result is never worse than `start`.
FlowSolution path_interior_point(const FlowInstance& instance, const FlowSolution& start,
                                 const SynthesisOptions& options);

}  // namespace colltopo::synthesis
