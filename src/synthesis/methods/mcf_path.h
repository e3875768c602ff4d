// Path-based multi-commodity flow (pMCF, (21)-(24) of Basu et al.): the best weights on given paths.
//
// Both solvers certify twice by the lengths they end with: Synthesis::bound against all routings, where a pair's
// distance counts, and time_lower_of_paths against all weights on these paths, where the shortest of its paths counts.
#pragma once

#include "colltopo/synthesis.h"

namespace colltopo::synthesis {

/// By linear programming: for thousands of paths. Falls back to best_weights() when options.seconds do not suffice.
Synthesis best_weights_exactly(const Topology& topology, const Routing& paths, const SynthesisOptions& options);

/// Gauss-Seidel on the exponential potential, until the best that the paths allow is certified to a quarter of
/// options.gap, the optimum of all routings to options.gap, or options.seconds have passed.
Synthesis best_weights(const Topology& topology, const Routing& paths, const SynthesisOptions& options);

/// The sum over pairs of the shortest of their paths under `lengths`, over the sum of length times capacity.
double time_lower_of_paths(const Topology& topology, const Routing& paths, std::span<const double> lengths);

}  // namespace colltopo::synthesis
