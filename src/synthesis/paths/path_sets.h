// The sets of paths that a pair of hosts may be given: link-disjoint, shortest, of bounded length (Basu et al., 3.1.4).
//
// PathsFrom prepares the distances from one host (O(links)) and then answers for every target; the free functions do
// both for a single pair. All answers are the same on every machine. Paths visit no node twice, may pass through hosts,
// and parallel links count as different.
#pragma once

#include <cstdint>
#include <vector>

#include "colltopo/topology.h"

namespace colltopo::synthesis {

using Path = std::vector<LinkId>;

struct PathList {
  std::vector<Path> paths;
  bool capped = false;  // there are more
};

class PathsFrom {
 public:
  /// The topology must outlive it. Throws Error naming a host that cannot be reached.
  PathsFrom(const Topology& topology, NodeId source);

  /// Links of a shortest path to `node`; -1 if there is none.
  int hops(NodeId node) const { return nodes_[index(node)].hops; }

  /// As many link-disjoint paths as there are, of least total length among all such sets; shortest first. Successive
  /// shortest augmentation, searched from the target so that the distances from the source guide it.
  std::vector<Path> disjoint(NodeId target);

  /// A maximal set of link-disjoint paths: a shortest path, then a shortest one without its links, and so on until
  /// there is none. Unlike disjoint() it always has a shortest path, but it may have fewer paths.
  std::vector<Path> disjoint_shortest_first(NodeId target);

  /// How many shortest paths there are; 2^62 where there are more.
  std::uint64_t shortest_count(NodeId target) const { return nodes_[index(target)].count; }
  /// All shortest paths, or `most` of them evenly spread over their enumeration.
  PathList shortest(NodeId target, std::size_t most) const;

  /// Paths of at most `most_links` links, shortest first; the first `most` of them.
  PathList bounded(NodeId target, int most_links, std::size_t most) const;

 private:
  struct Node {
    int hops = -1;
    std::uint64_t count = 0;  // of shortest paths
  };
  // Of the augmentation: costs become non-negative with the potential hops + raised (of a node, against the source's).
  struct Mark {
    int raised = 0;
    int distance = -1;    // to the target, reduced; -1: not seen in this search
    bool done = false;    // its distance is final
    LinkId next = -1;     // the link by which to go on to the target
    bool undoes = false;  // going on means taking the link out of the path that uses it
  };

  static std::size_t index(NodeId node) { return static_cast<std::size_t>(node); }
  Path shortest_at(NodeId target, std::uint64_t rank) const;
  bool search(NodeId target, bool may_undo);
  void relax(NodeId node, NodeId tail, int cost, LinkId link, bool undoes);
  void augment(NodeId target);
  std::vector<Path> take_apart(NodeId target);
  void forget();

  const Topology& topology_;
  NodeId source_;
  std::vector<Node> nodes_;
  std::vector<Mark> marks_;
  std::vector<bool> used_;               // [link] by the paths so far
  std::vector<LinkId> used_links_;       // those that were ever used for this target
  std::vector<NodeId> seen_, raised_;    // nodes whose marks are not as new
  std::vector<std::vector<NodeId>> at_;  // [reduced distance] nodes to look at
};

std::vector<Path> disjoint_paths(const Topology& topology, NodeId source, NodeId target);
PathList shortest_paths(const Topology& topology, NodeId source, NodeId target, std::size_t most);
PathList bounded_paths(const Topology& topology, NodeId source, NodeId target, int most_links, std::size_t most);

}  // namespace colltopo::synthesis
