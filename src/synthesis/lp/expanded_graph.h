// The time-expanded graph (Basu et al., 3.1.3): a copy of the network per step, hosts keeping what they have between.
//
// Its hosts are the network's hosts after the last step, with the same numbers, so that a flow "to every host" is one
// that arrives in time. What a host sends begins at its copy before the first step. Within a step data passes switches.
#pragma once

#include <vector>

#include "colltopo/schedule.h"
#include "colltopo/topology.h"
#include "synthesis/paths/link_flow.h"

namespace colltopo::synthesis {

class ExpandedGraph {
 public:
  ExpandedGraph(const Topology& topology, Step steps);

  const Topology& graph() const { return graph_; }
  /// The copy of a host that its own data leaves from.
  NodeId start(NodeId host) const { return host_before(host, 1); }

  /// The link of the network; -1: a host keeps data.
  LinkId link_of(LinkId expanded) const { return link_of_[static_cast<std::size_t>(expanded)]; }
  Step step_of(LinkId expanded) const { return step_of_[static_cast<std::size_t>(expanded)]; }

  /// Links that data of `source` can be on, besides those that lead back to it.
  std::vector<LinkAmount> useful_links(NodeId source) const;

 private:
  NodeId host_before(NodeId host, Step step) const { return step * topology_.hosts() + host; }
  NodeId host_after(NodeId host, Step step) const { return step == steps_ ? host : host_before(host, step + 1); }
  NodeId switch_in(NodeId node, Step step) const;

  const Topology& topology_;
  Step steps_;
  Topology graph_;
  std::vector<LinkId> link_of_;
  std::vector<Step> step_of_;
};

/// The fewest steps in which every host reaches every host: the diameter in hops from host to host.
Step fewest_steps(const Topology& topology);

}  // namespace colltopo::synthesis
