// Links grouped by tail; which hosts are cut off.
#include "synthesis/sweep/arcs.h"

#include <algorithm>
#include <string>

#include "colltopo/error.h"

namespace colltopo::synthesis {

Arcs::Arcs(const FlowInstance& instance) {
  const Topology& topology = *instance.topology;
  first_out_.push_back(0);
  for (NodeId node = 0; node < topology.nodes(); ++node) {
    for (const LinkId link : topology.links_out(node)) {
      arcs_.push_back({topology.link(link).head, instance.link_class[static_cast<std::size_t>(link)]});
      links_.push_back(link);
      tails_.push_back(node);
    }
    first_out_.push_back(static_cast<std::int32_t>(arcs_.size()));
  }
}

std::vector<bool> reached(const Topology& topology, NodeId from, bool backward, const std::vector<bool>& closed) {
  std::vector<bool> seen(static_cast<std::size_t>(topology.nodes()));
  std::vector<NodeId> stack{from};
  seen[static_cast<std::size_t>(from)] = true;
  while (!stack.empty()) {
    const NodeId node = stack.back();
    stack.pop_back();
    for (const LinkId link : backward ? topology.links_in(node) : topology.links_out(node)) {
      if (!closed.empty() && closed[static_cast<std::size_t>(link)]) continue;
      const NodeId next = backward ? topology.link(link).tail : topology.link(link).head;
      if (seen[static_cast<std::size_t>(next)]) continue;
      seen[static_cast<std::size_t>(next)] = true;
      stack.push_back(next);
    }
  }
  return seen;
}

void require_all_pairs(const Topology& topology) {
  // The largest set of hosts that reach each other is the network; the others are cut off from it.
  std::vector<bool> placed(static_cast<std::size_t>(topology.hosts()));
  std::vector<NodeId> largest;
  for (NodeId host = 0; host < topology.hosts(); ++host) {
    if (placed[static_cast<std::size_t>(host)]) continue;
    const std::vector<bool> forward = reached(topology, host, false), backward = reached(topology, host, true);
    std::vector<NodeId> mutual;
    for (NodeId other = host; other < topology.hosts(); ++other) {
      const auto at = static_cast<std::size_t>(other);
      if (!forward[at] || !backward[at]) continue;
      placed[at] = true;
      mutual.push_back(other);
    }
    if (mutual.size() > largest.size()) largest = std::move(mutual);
  }
  if (largest.size() == static_cast<std::size_t>(topology.hosts())) return;

  constexpr std::size_t k_names = 8;
  std::string names;
  std::size_t cut_off = 0;
  for (NodeId host = 0; host < topology.hosts(); ++host) {
    if (std::binary_search(largest.begin(), largest.end(), host)) continue;
    if (++cut_off <= k_names) names += (cut_off > 1 ? ", " : "") + topology.node_name(host);
  }
  if (cut_off > k_names) names += " and " + std::to_string(cut_off - k_names) + " more";
  throw Error(topology.name() + ": " + (cut_off == 1 ? "host " : "hosts ") + names + " cannot reach host " +
              topology.node_name(largest.front()) + " or cannot be reached from it; no all-to-all is possible");
}

}  // namespace colltopo::synthesis
