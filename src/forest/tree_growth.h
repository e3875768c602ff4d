// One tree at a time, level by level: from a root over the edges that have most to spare.
#pragma once

#include <optional>
#include <vector>

#include "forest/known_cuts.h"
#include "forest/tree_packing.h"

namespace colltopo {

/// What is left of edges, and trees left to pack.
struct PackingState {
  std::vector<Capacity> residual;  // [edge]
  std::vector<Capacity> left;      // [host]
};

class TreeGrowth {
 public:
  TreeGrowth(NodeId hosts, std::span<const CapacityEdge> edges);

  /// A tree of the largest weight that comes of it, within `state` and known cuts; none when no edge goes on. It may be
  /// one that makes the rest impossible, by a cut that is not known.
  std::optional<PackedTree> by_known_cuts(const PackingState& state, KnownCuts& cuts, NodeId root);

  /// A tree that leaves the rest possible, when it is possible to begin with: by a flow for every edge (Theorem 12,
  /// after Berczi and Frank).
  PackedTree exactly(const PackingState& state, KnownCuts& cuts, NodeId root);

 private:
  using Edge = std::uint32_t;
  struct Growing {
    PackedTree tree;
    std::vector<bool> covered;  // [host]
    std::vector<NodeId> level;  // hosts to go on from
  };
  Growing begin(KnownCuts& cuts, NodeId root, Capacity weight) const;
  void add(Growing& growing, KnownCuts& cuts, Edge edge) const;
  /// Edges from the level to uncovered hosts, most residual first.
  std::vector<Edge> candidates(const Growing& growing, const PackingState& state) const;

  void set_flows(const PackingState& state, const Growing& growing);
  /// Theorem 12: trees alike that may take the edge; where none, `refusing` is a cut that forbids it.
  Capacity safe(const PackingState& state, const Growing& growing, Edge edge, std::vector<bool>& refusing);

  NodeId hosts_;
  std::span<const CapacityEdge> edges_;
  std::vector<Edge> first_out_;  // [host], and the end: edges are sorted by tail
  MaxFlow flows_;                // edges, then host -> hub, then hub -> host
};

}  // namespace colltopo
