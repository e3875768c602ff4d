// The constants that prices on a network need.
#pragma once

#include <string>
#include <vector>

#include "colltopo/choice.h"
#include "colltopo/topology.h"

namespace colltopo::cli {

/// The component's, with the latency and bandwidth of the network's links, and with what `settings` (NAME=VALUE, of
/// --set) say in their place. Throws Error naming what it cannot use.
Machine machine_on(const Topology& network, const std::vector<std::string>& settings);

}  // namespace colltopo::cli
