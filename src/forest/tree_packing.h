// Trees that span all hosts, so many from each, within the capacities of edges (Zhao et al., section 4.4).
#pragma once

#include <span>
#include <vector>

#include "forest/max_flow.h"

namespace colltopo {

/// `weight` trees alike.
struct PackedTree {
  NodeId root = 0;
  Capacity weight = 1;
  std::vector<std::uint32_t> edges;  // in order of growth: an edge's tail is the root or the head of one before
};

/// `edges`: between hosts, sorted by (tail, head), no two alike. `roots`: [host] trees rooted there, which must
/// exist (spanning_test.h); asserted. Trees come by root.
std::vector<PackedTree> pack_trees(NodeId hosts, std::span<const CapacityEdge> edges, std::span<const Capacity> roots);

/// What is wrong with a packing, "" if nothing: every tree spans, hosts root what they should, no edge carries
/// more than its capacity.
std::string packing_fault(NodeId hosts, std::span<const CapacityEdge> edges, std::span<const Capacity> roots,
                          std::span<const PackedTree> packing);

}  // namespace colltopo
