// A commodity of a flow programme: one column per link that may carry it, and its conservation.
#pragma once

#include <span>
#include <vector>

#include "lp/model.h"
#include "synthesis/paths/link_flow.h"

namespace colltopo::synthesis {

class FlowColumns {
 public:
  /// Adds a column of `cost` for every link that is of use (not into the source, nor out of a single target), and the
  /// rows "what enters a node is at least what leaves it and its demand", (3), (4) and (8) of Basu et al.
  FlowColumns(lp::Model& model, const Topology& topology, NodeId source, NodeId target, double cost,
              std::span<const LinkAmount> links);

  /// Those with columns.
  std::span<const LinkAmount> links() const { return links_; }
  /// -1: none.
  lp::Column column(LinkId link) const { return columns_[static_cast<std::size_t>(link)]; }

  LinkFlow flow(const lp::Solution& solution) const;

 private:
  NodeId source_, target_;
  std::vector<LinkAmount> links_;
  std::vector<lp::Column> columns_;  // [link]
};

/// Solves a programme that has an optimum, within `seconds` of processor time; throws Error when that is not found.
/// `name`: of the network.
lp::Solution solved_flow(const lp::Model& model, const std::string& name, double seconds);

}  // namespace colltopo::synthesis
