// The narrowest cut around a source in one run, where flows would need one per sink: Hao and Orlin, "A faster algorithm
// for finding the minimum cut in a directed graph" (1994).
#pragma once

#include <vector>

#include "forest/paired_arcs.h"

namespace colltopo {

struct LeastCut {
  Capacity capacity = 0;
  std::vector<bool> inside;  // [node] the source's side
};

/// Of all sets that have the source but not all nodes one that least leaves: the least of the maximum flows from the
/// source to every other node, of which there must be one. The sum of capacities out of the source must fit into
/// Capacity. Time O(nodes^2 sqrt(edges)), about that of the last of the flows alone.
LeastCut least_cut(NodeId nodes, std::span<const CapacityEdge> edges, NodeId source);

}  // namespace colltopo
