// The links of an instance in the order in which searches walk them: grouped by tail, with their classes beside them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "synthesis/sweep/flow_instance.h"

namespace colltopo::synthesis {

struct Arc {
  NodeId head = 0;
  std::int32_t link_class = 0;
};

class Arcs {
 public:
  explicit Arcs(const FlowInstance& instance);

  NodeId nodes() const { return static_cast<NodeId>(first_out_.size()) - 1; }
  /// Arcs first_out(node) to first_out(node + 1) leave the node.
  std::int32_t first_out(NodeId node) const { return first_out_[static_cast<std::size_t>(node)]; }
  const Arc& arc(std::int32_t arc) const { return arcs_[static_cast<std::size_t>(arc)]; }
  LinkId link(std::int32_t arc) const { return links_[static_cast<std::size_t>(arc)]; }
  NodeId tail(std::int32_t arc) const { return tails_[static_cast<std::size_t>(arc)]; }

 private:
  std::vector<std::int32_t> first_out_;  // [node], and the end
  std::vector<Arc> arcs_;
  std::vector<LinkId> links_;  // [arc]
  std::vector<NodeId> tails_;  // [arc]
};

/// [node] whether `from` reaches it, or is reached by it when `backward`, over links that are not `closed` ([link];
/// empty: none is).
std::vector<bool> reached(const Topology& topology, NodeId from, bool backward, const std::vector<bool>& closed = {});

/// Throws Error that names the hosts which cannot reach the others, or which the others cannot reach.
void require_all_pairs(const Topology& topology);

}  // namespace colltopo::synthesis
