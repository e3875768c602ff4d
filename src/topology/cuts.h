// The narrow cuts of a topology one after the other, for networks whose cuts do not fit into memory together.
#pragma once

#include <functional>

#include "colltopo/topology.h"

namespace colltopo {

/// What narrow_cuts() lists, in the same order; a cut is valid during its visit alone.
void for_each_narrow_cut(const Topology& topology, const std::function<void(const Cut&)>& visit);

}  // namespace colltopo
