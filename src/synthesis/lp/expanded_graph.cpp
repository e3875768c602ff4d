// Building the time-expanded graph and finding what of it a source can use.
#include "synthesis/lp/expanded_graph.h"

#include <algorithm>
#include <deque>

namespace colltopo::synthesis {

ExpandedGraph::ExpandedGraph(const Topology& topology, Step steps) : topology_(topology), steps_(steps) {
  const std::int64_t others = std::int64_t{steps} * (topology.hosts() + topology.switches());
  TopologyBuilder builder(topology.name() + " in " + std::to_string(steps) + " steps", topology.hosts(), others);
  for (Step step = 1; step <= steps; ++step) {
    for (std::size_t i = 0; i < topology.links().size(); ++i) {
      const Link& link = topology.link(static_cast<LinkId>(i));
      builder.link(topology.is_host(link.tail) ? host_before(link.tail, step) : switch_in(link.tail, step),
                   topology.is_host(link.head) ? host_after(link.head, step) : switch_in(link.head, step),
                   link.bandwidth, link.latency);
      link_of_.push_back(static_cast<LinkId>(i));
      step_of_.push_back(step);
    }
    for (NodeId host = 0; host < topology.hosts(); ++host) {
      builder.link(host_before(host, step), host_after(host, step));
      link_of_.push_back(-1);
      step_of_.push_back(step);
    }
  }
  graph_ = std::move(builder).build();
}

NodeId ExpandedGraph::switch_in(NodeId node, Step step) const {
  return (steps_ + 1) * topology_.hosts() + (step - 1) * topology_.switches() + (node - topology_.hosts());
}

std::vector<LinkAmount> ExpandedGraph::useful_links(NodeId source) const {
  std::vector<bool> reached(static_cast<std::size_t>(graph_.nodes()), false);
  std::deque<NodeId> queue{start(source)};
  reached[static_cast<std::size_t>(start(source))] = true;
  std::vector<LinkAmount> useful;
  while (!queue.empty()) {
    const NodeId node = queue.front();
    queue.pop_front();
    for (const LinkId expanded : graph_.links_out(node)) {
      const LinkId link = link_of(expanded);
      if (link >= 0 && topology_.link(link).head == source) continue;
      useful.push_back({expanded, 0});
      const NodeId head = graph_.link(expanded).head;
      if (reached[static_cast<std::size_t>(head)]) continue;
      reached[static_cast<std::size_t>(head)] = true;
      queue.push_back(head);
    }
  }
  std::ranges::sort(useful, {}, &LinkAmount::link);
  return useful;
}

Step fewest_steps(const Topology& topology) {
  Step most = 0;
  for (NodeId source = 0; source < topology.hosts(); ++source) {
    // Entering a switch costs nothing: those nodes come first.
    std::vector<Step> hops(static_cast<std::size_t>(topology.nodes()), -1);
    std::deque<std::pair<Step, NodeId>> queue{{0, source}};
    while (!queue.empty()) {
      const auto [at, node] = queue.front();
      queue.pop_front();
      if (hops[static_cast<std::size_t>(node)] >= 0) continue;
      hops[static_cast<std::size_t>(node)] = at;
      if (topology.is_host(node)) most = std::max(most, at);
      for (const LinkId link : topology.links_out(node)) {
        const NodeId head = topology.link(link).head;
        if (hops[static_cast<std::size_t>(head)] >= 0) continue;
        if (topology.is_host(head))
          queue.emplace_back(at + 1, head);
        else
          queue.emplace_front(at, head);
      }
    }
  }
  return most;
}

}  // namespace colltopo::synthesis
