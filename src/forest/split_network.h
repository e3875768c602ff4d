// A network while its switches are taken out: edges that remember the links they stand for.
//
// Splitting off replaces `amount` of (u, w) and (w, t) by an edge (u, t). An edge is a bundle of strands, each a path
// of links with an amount of its own, so at the end every edge between hosts knows its paths through the switches.
#pragma once

#include <map>
#include <vector>

#include "forest/max_flow.h"

namespace colltopo {

/// Replaces `amount` of (from, w) and (w, to) for the switch w at hand; from == to drops it.
struct Splitting {
  NodeId from = 0;
  NodeId to = 0;
  Capacity amount = 0;
};

/// Part of an edge between hosts: `amount` of it takes these links.
struct RoutedAmount {
  std::vector<LinkId> links;
  Capacity amount = 0;
};

struct LogicalEdge {
  NodeId tail = 0;
  NodeId head = 0;
  std::vector<RoutedAmount> routes;

  Capacity capacity() const;
};

class SplitNetwork {
 public:
  /// `of_link`: [link] trees that may cross it. The topology must outlive this.
  SplitNetwork(const Topology& topology, const std::vector<Capacity>& of_link);

  const Topology& topology() const { return *topology_; }
  /// Sorted by (tail, head).
  std::vector<CapacityEdge> edges() const;
  Capacity capacity(NodeId tail, NodeId head) const;
  /// Edges into and out of a node, by increasing neighbour.
  std::vector<CapacityEdge> edges_into(NodeId node) const;
  std::vector<CapacityEdge> edges_out_of(NodeId node) const;

  /// Both edges must have the amount.
  void split(NodeId relay, const Splitting& splitting);
  /// Forgets what is left of the edges of a node.
  void isolate(NodeId node);

  /// Edges between hosts, sorted by (tail, head), their routes without loops and each once.
  std::vector<LogicalEdge> logical_edges() const;

 private:
  // A path is a link (second == -1), or one path after another: indices into paths_.
  struct Path {
    std::int32_t first, second;
  };
  struct Strand {
    std::int32_t path;
    Capacity amount;
  };
  struct Bundle {
    Capacity capacity = 0;
    std::vector<Strand> strands;  // the last is used first
  };
  /// Up to `amount` from the last strand of an edge.
  Strand take(NodeId tail, NodeId head, Capacity amount);
  void append_links(std::int32_t path, std::vector<LinkId>& links) const;

  const Topology* topology_;
  std::vector<std::map<NodeId, Bundle>> out_;   // [tail] by head
  std::vector<std::map<NodeId, Capacity>> in_;  // [head] by tail
  std::vector<Path> paths_;
};

}  // namespace colltopo
