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

#include "forest/paired_arcs.h"

namespace colltopo {

class MaxFlow {
 public:
  /// The sum of capacities of edges out of a source, or into a sink, must fit into Capacity.
  MaxFlow(NodeId nodes, std::span<const CapacityEdge> edges);

  /// Counts from the next clear(). `edge`: its index in the constructor's list.
  void set_capacity(std::size_t edge, Capacity capacity) { arcs_.capacity[arcs_.of_edge[edge]] = capacity; }
  /// Takes all flow away.
  void clear() { residual_ = arcs_.capacity; }

  /// Pushes up to `limit` more units from source to sink and returns how many went.
  Capacity push(NodeId source, NodeId sink, Capacity limit);
  /// After a push() that fell short of its limit: whether the node is on the source's side of a cut without residual.
  bool is_reached(NodeId node) const { return level_[static_cast<std::size_t>(node)] >= 0; }

 private:
  using Arc = PairedArcs::Arc;
  bool find_levels(NodeId source, NodeId sink);
  Capacity augment_along_levels(NodeId source, NodeId sink, Capacity limit);

  PairedArcs arcs_;
  std::vector<Capacity> residual_;
  // Of the search at hand.
  std::vector<std::int32_t> level_;
  std::vector<Arc> current_;
  std::vector<NodeId> queue_;
  std::vector<Arc> path_;
};

}  // namespace colltopo
