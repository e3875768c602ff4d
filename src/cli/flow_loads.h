// Loads of links as a file, and the unit that times of flows are in.
#pragma once

#include <string>

#include "colltopo/routing.h"

namespace colltopo::cli {

std::string loads_file(const Topology& topology, const FlowBound& bound);

/// Bytes per second of a link of capacity 1.
double unit_bandwidth(const Topology& topology);

}  // namespace colltopo::cli
