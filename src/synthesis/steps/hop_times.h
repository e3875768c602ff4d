// Paths and times for their hops, such that in every step all links are busy for about as long.
//
// For networks too large for the time-stepped programme: every pair chooses among given paths and the ways to take
// their hops in increasing steps. The sum over steps of the largest load cannot be below the time of a flow without
// steps.
#pragma once

#include "colltopo/stepped.h"

namespace colltopo::synthesis {

/// Hops from host to host of the longest path.
Step most_hops(const Topology& topology, const Routing& routing);

/// In at most `steps` steps, or as many as the longest path has hops if that is more, beginning with the weights that
/// the paths have; those of weight 0 wait to be chosen. Stops when the sum of U_t is at most `good_enough`, when it
/// gets no better, or after `seconds`.
SteppedFlow with_hop_times(const Topology& topology, const Routing& paths, Step steps, double good_enough,
                           double seconds);

}  // namespace colltopo::synthesis
