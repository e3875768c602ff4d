// How many trees each link may carry.
#pragma once

#include <vector>

#include "forest/units.h"

namespace colltopo {

/// [link] floor(U times bandwidth), but never more than all trees of all hosts.
std::vector<Capacity> trees_per_link(const Topology& topology, const Bandwidths& bandwidths, const Ratio& ratio,
                                     std::int64_t trees);

}  // namespace colltopo
