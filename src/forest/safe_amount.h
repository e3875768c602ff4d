// How much of two edges at a switch can be split off without harm to any tree (Zhao et al., Theorem 8).
#pragma once

#include <vector>

#include "forest/split_network.h"

namespace colltopo {

/// For one switch at a time; keeps its own copy of the network's capacities.
class SafeAmounts {
 public:
  /// `roots`: [host] trees rooted there.
  SafeAmounts(const SplitNetwork& network, NodeId relay, std::span<const Capacity> roots);

  /// The largest amount, at most `most`, of (from, relay) and (relay, to) that may be split off: gamma of equation (2).
  Capacity amount(NodeId from, NodeId to, Capacity most);
  /// Says that it was.
  void split(const Splitting& splitting);

 private:
  Capacity capacity(NodeId tail, NodeId head) const;
  void change(NodeId tail, NodeId head, Capacity by);
  /// The least flow from the source, with `with_source` glued to it, to the sink, with `with_sink` glued to it, above
  /// what all trees need; at most `most`.
  Capacity spare(std::vector<NodeId> with_source, std::vector<NodeId> with_sink, Capacity most);

  NodeId hosts_, nodes_, relay_;
  NodeId source_, sink_;
  Capacity needed_;  // all trees
  std::map<std::pair<NodeId, NodeId>, std::size_t> edge_of_;
  std::vector<CapacityEdge> edges_;                 // also between ports that have none yet
  std::vector<std::size_t> from_source_, to_sink_;  // [node] edges
  MaxFlow network_;
};

}  // namespace colltopo
