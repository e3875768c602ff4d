// Turning links round.
#include "forest/parts.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace colltopo {

std::vector<LinkId> twins(const Topology& topology) {
  std::map<std::tuple<NodeId, NodeId, double>, std::vector<LinkId>> alone;
  std::vector<LinkId> twin(topology.links().size(), -1);
  for (std::size_t i = 0; i < twin.size(); ++i) {
    const Link& link = topology.links()[i];
    std::vector<LinkId>& others = alone[{link.head, link.tail, link.bandwidth}];
    if (others.empty()) {
      alone[{link.tail, link.head, link.bandwidth}].push_back(static_cast<LinkId>(i));
    } else {
      twin[i] = others.back();
      twin[static_cast<std::size_t>(others.back())] = static_cast<LinkId>(i);
      others.pop_back();
    }
  }
  return std::ranges::count(twin, -1) > 0 ? std::vector<LinkId>{} : twin;
}

Topology transposed(const Topology& topology) {
  TopologyBuilder builder(topology.name(), topology.hosts(), topology.switches());
  for (NodeId node = 0; node < topology.nodes(); ++node) builder.name_node(node, topology.node_name(node));
  for (const Link& link : topology.links()) builder.link(link.head, link.tail, link.bandwidth, link.latency);
  return std::move(builder).build();
}

void turn_routes(Packing& packing) {
  for (Route& route : packing.routes) {
    std::swap(route.source, route.target);
    std::ranges::reverse(route.links);
  }
}

}  // namespace colltopo
