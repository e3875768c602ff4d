// A tree of shortest paths under lengths that change little from one visit of its source to the next.
//
// Bellman-Ford over the nodes in the order of the last visit's distances: the first pass finds almost every distance, a
// queue repairs the rest. Needs no heap and, on a thousand nodes, a third of the time of Dijkstra's algorithm.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "synthesis/sweep/arcs.h"

namespace colltopo::synthesis {

class ShortestPathTree {
 public:
  explicit ShortestPathTree(const Arcs& arcs);

  /// `order`: what the last call for this source left there, or nothing.
  void grow(NodeId source, std::span<const double> class_lengths, std::vector<NodeId>& order);

  double distance(NodeId node) const { return distance_[static_cast<std::size_t>(node)]; }
  /// Finds out how long the tree's paths are under other lengths.
  void measure(std::span<const double> class_lengths);
  /// Of the path to a node, by the last measure().
  double measured(NodeId node) const { return measured_[static_cast<std::size_t>(node)]; }
  /// Links from the source to the node, in order; valid until the next call.
  std::span<const LinkId> path(NodeId node);

 private:
  void visit_breadth_first(NodeId source, std::vector<NodeId>& order) const;
  void relax_from(NodeId node, std::span<const double> class_lengths);

  const Arcs& arcs_;
  NodeId source_ = 0;
  std::vector<double> distance_;
  std::vector<std::int32_t> arriving_by_;  // [node] arc
  enum class Place : char { ahead, settled, queued };
  std::vector<Place> place_;
  std::vector<NodeId> queue_;
  std::vector<double> measured_;                        // [node], negative: not yet
  std::vector<std::pair<double, NodeId>> by_distance_;  // to sort them
  std::vector<std::int32_t> way_up_;                    // arcs
  std::vector<LinkId> path_;                            // the last asked for, at the end
};

}  // namespace colltopo::synthesis
