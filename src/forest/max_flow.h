// Maximum flow on integer capacities: Dinic's algorithm, with flows that are kept between questions.
//
// Everything in ForestColl (Zhao et al.) is decided by maximum flows from one source to many sinks, and nearly always
// the question is only whether a flow reaches some value. So flows stop at a limit, and a flow to one sink is made one
// to the next by pushing what arrived there onwards: a flow of value L from s to a is one from s to b exactly when L
// units get from a to b through what is left.
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

class MaxFlow {
 public:
  /// The sum of capacities of edges out of a source, or into a sink, must fit into Capacity.
  MaxFlow(NodeId nodes, std::span<const CapacityEdge> edges);

  /// Counts from the next clear(). `edge`: its index in the constructor's list.
  void set_capacity(std::size_t edge, Capacity capacity) { capacity_[arc_of_edge_[edge]] = capacity; }
  /// Takes all flow away.
  void clear() { residual_ = capacity_; }

  /// Pushes up to `limit` more units from source to sink and returns how many went.
  Capacity push(NodeId source, NodeId sink, Capacity limit);
  /// After a push() that fell short of its limit: whether the node is on the source's side of a cut without residual.
  bool is_reached(NodeId node) const { return level_[static_cast<std::size_t>(node)] >= 0; }

 private:
  using Arc = std::uint32_t;
  bool find_levels(NodeId source, NodeId sink);
  Capacity augment_along_levels(NodeId source, NodeId sink, Capacity limit);

  std::vector<Arc> first_arc_;  // [node], and the end
  std::vector<NodeId> head_;    // [arc]
  std::vector<Arc> mate_;       // [arc] the arc the other way
  std::vector<Capacity> capacity_, residual_;
  std::vector<Arc> arc_of_edge_;
  // Of the search at hand.
  std::vector<std::int32_t> level_;
  std::vector<Arc> current_;
  std::vector<NodeId> queue_;
  std::vector<Arc> path_;
};

}  // namespace colltopo
