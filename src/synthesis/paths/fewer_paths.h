// Merging paths of a pair while the largest load allows it: shares are cut into whole chunks later, and few, heavy
// paths lose nothing by that.
#pragma once

#include "synthesis/sweep/flow_instance.h"

namespace colltopo::synthesis {

/// The routing with as many of its lightest paths given up to others of their pairs as keeps every load within
/// `time` times the capacity of its class (loads that are beyond it already do not grow).
Routing with_fewer_paths(const FlowInstance& instance, const Routing& routing, double time);

}  // namespace colltopo::synthesis
