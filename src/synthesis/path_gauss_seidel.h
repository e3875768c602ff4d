// The concurrent flow of an instance to a certified gap: path Gauss-Seidel on the exponential potential.
#pragma once

#include "synthesis/flow_instance.h"

namespace colltopo {

/// Of `options`: gap, seconds, threads, seed, start, progress. The result depends on none of the threads. Throws Error
/// naming hosts that cannot reach the others.
FlowSolution path_gauss_seidel(const FlowInstance& instance, const SynthesisOptions& options);

}  // namespace colltopo
