// Path-based multi-commodity flow (pMCF, (21)-(24) of Basu et al.) by a linear programme.
#pragma once

#include "synthesis/sweep/path_weights.h"

namespace colltopo::synthesis {

/// For thousands of paths; certified like best_weights(), to which it falls back when options.seconds do not suffice.
Synthesis best_weights_exactly(const Topology& topology, const Routing& paths, const SynthesisOptions& options);

/// The sum over pairs of the shortest of their paths under `lengths`, over the sum of length times capacity.
double time_lower_of_paths(const Topology& topology, const Routing& paths, std::span<const double> lengths);

}  // namespace colltopo::synthesis
