// Path-based multi-commodity flow (pMCF, (21)-(24) of Basu et al.) by sweeps: the best weights on given paths.
#pragma once

#include "colltopo/synthesis.h"

namespace colltopo::synthesis {

/// Gauss-Seidel on the exponential potential, until the best that the paths allow is certified to a quarter of
/// options.gap, the optimum of all routings to options.gap, or options.seconds have passed. With options.demand times
/// are in bytes as those of alltoallv_bound(), and pairs without demand keep their weights.
///
/// Certified twice by the lengths of the end: Synthesis::bound against all routings, where a pair's distance counts,
/// and time_lower_of_paths against all weights on these paths, where the shortest of its paths counts.
Synthesis best_weights(const Topology& topology, const Routing& paths, const SynthesisOptions& options);

}  // namespace colltopo::synthesis
