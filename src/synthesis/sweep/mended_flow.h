// A flow that was near the optimum before something broke, or changed a little, made so again.
#pragma once

#include "synthesis/sweep/flow_instance.h"

namespace colltopo::synthesis {

/// From options.start, a routing of this network. Only pairs on overloaded links move: a link is overloaded that stays
/// busy for longer than options.gap above what `class_lengths` prove (those that proved the old flow, say). Where that
/// makes no progress, the lengths to which the overload has driven the links prove more. May end with a larger gap than
/// asked for: then sweeps over everything are due. Of `options`: start, gap, seconds, threads, seed, team, progress.
FlowSolution mended_flow(const FlowInstance& instance, std::span<const double> class_lengths,
                         const SynthesisOptions& options);

}  // namespace colltopo::synthesis
