// Switches taken out of a network, without loss: what is left are edges between hosts, with their routes, and as many
// trees as before (Zhao et al., Algorithm 4).
#pragma once

#include <vector>

#include "forest/split_network.h"

namespace colltopo {

/// Edges between hosts in which `trees` trees per host exist, as they do in the topology with `of_link` trees per link
/// (asserted). Exists whenever as much enters every node as leaves it; otherwise it may not, and Error names a node
/// where they differ.
std::vector<LogicalEdge> without_switches(const Topology& topology, const std::vector<Capacity>& of_link,
                                          Capacity trees, int threads);

}  // namespace colltopo
