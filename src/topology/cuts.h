// The narrow cuts of a topology one after the other, for networks whose cuts do not fit into memory together.
#pragma once

#include <functional>
#include <limits>

#include "colltopo/topology.h"

namespace colltopo {

/// What narrow_cuts() lists, in the same order; a cut is valid during its visit alone. Balls of more than `most_hosts`
/// may be left out.
void for_each_narrow_cut(const Topology& topology, const std::function<void(const Cut&)>& visit,
                         NodeId most_hosts = std::numeric_limits<NodeId>::max());

}  // namespace colltopo
