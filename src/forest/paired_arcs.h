// Edges as arcs in pairs, each the other's way back: what flows are pushed along.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "colltopo/topology.h"

namespace colltopo {

using Capacity = std::int64_t;

struct CapacityEdge {
  NodeId tail = 0;
  NodeId head = 0;
  Capacity capacity = 0;

  friend bool operator==(const CapacityEdge&, const CapacityEdge&) = default;
};

/// An edge and one the opposite way share a pair; others get an arc of capacity 0 for the way back.
struct PairedArcs {
  using Arc = std::uint32_t;

  PairedArcs(NodeId nodes, std::span<const CapacityEdge> edges);

  std::vector<Arc> first;  // [node] its first arc out, and the end
  std::vector<NodeId> head;
  std::vector<Arc> mate;  // [arc] the arc the other way
  std::vector<Capacity> capacity;
  std::vector<Arc> of_edge;  // [edge]
};

}  // namespace colltopo
