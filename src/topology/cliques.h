// Large cliques that share no edge with another, such as the lines of a HyperX: where a graph has them, a hub joined to
// the members says the same with far fewer edges, and the graph of hubs has the same automorphisms.
#pragma once

#include <vector>

#include "colltopo/topology.h"

namespace colltopo {

struct CliqueEdge {
  NodeId tail = 0, head = 0;
};

struct Cliques {
  std::vector<std::vector<NodeId>> members;  // of each clique, increasing
  std::vector<bool> has_edge;                // [edge] whether it is within one of them
};

/// The maximal cliques of at least 4 vertices each of whose edges is in no other maximal clique: what an automorphism
/// of the graph moves to each other. `edges` are sorted and hold both ways of each; vertices are below `vertices`.
/// Time: the neighbourhoods of two ends, and of what may be a clique, per edge.
Cliques cliques_of(const std::vector<CliqueEdge>& edges, NodeId vertices);

}  // namespace colltopo
