// The time-stepped programme of Basu et al., (15)-(20), grouped by source as they decompose the one without steps.
#pragma once

#include "colltopo/stepped.h"

namespace colltopo::synthesis {

/// The least sum of U_t in at most `steps` steps, exactly: a linear programme of about sources * links * steps
/// variables, then paths by stripping. Throws Error when it takes longer than `seconds` of processor time.
SteppedFlow time_expanded_flow(const Topology& topology, Step steps, double seconds);

/// The sum of U_t.
double stepped_time(const Topology& topology, const SteppedFlow& flow);

}  // namespace colltopo::synthesis
