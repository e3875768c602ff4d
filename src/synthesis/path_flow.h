// Path-based multi-commodity flow (pMCF, (21)-(24) of Basu et al.): the best weights on given paths.
//
// Both functions certify twice by the lengths they end with: Synthesis::bound against all routings, where a pair's
// distance counts, and time_lower_of_paths against all weights on these paths, where the shortest of its paths counts.
#pragma once

#include "colltopo/synthesis.h"

namespace colltopo {

/// Gauss-Seidel on the exponential potential, until the best that the paths allow is certified to a tenth of
/// options.gap, the optimum of all routings to options.gap, or options.seconds have passed.
Synthesis best_weights(const Topology& topology, const Routing& paths, const SynthesisOptions& options);

}  // namespace colltopo
