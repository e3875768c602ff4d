#include "colltopo/node_network.h"

#include <algorithm>

namespace colltopo {

namespace {

constexpr double k_ethernet = 10e9 / 8;       // bytes/s: nothing that moves data without the kernel is that slow
constexpr double k_ethernet_latency = 30e-6;  // s, under TCP
constexpr double k_ethernet_overhead = 3e-6;  // s

double latency_of(const Topology& network, std::span<const LinkId> path) {
  double latency = 0;
  for (const LinkId link : path) latency += network.link(link).latency;
  return latency;
}

}  // namespace

NodeNetwork::NodeNetwork(const Topology& topology, std::span<const NodeId> host_of)
    : nodes_(static_cast<int>(host_of.size())) {
  const ShortestPaths shortest(topology);
  const Hops hops(topology);
  std::vector<std::int32_t> number(topology.links().size(), -1);
  first_.push_back(0);
  for (int from = 0; from < nodes_; ++from) {
    for (int to = 0; to < nodes_; ++to) {
      const std::vector<LinkId> path =
          shortest.path(host_of[static_cast<std::size_t>(from)], host_of[static_cast<std::size_t>(to)]);
      for (const LinkId link : path) {
        std::int32_t& known = number[static_cast<std::size_t>(link)];
        if (known < 0) {
          known = links();
          slowness_.push_back(topology.slowest_bandwidth() / topology.link(link).bandwidth);
        }
        links_.push_back(known);
      }
      first_.push_back(static_cast<std::uint32_t>(links_.size()));
      hops_.push_back(hops.of(latency_of(topology, path)));
    }
  }
}

std::span<const std::int32_t> NodeNetwork::path(int from, int to) const {
  const std::size_t at = pair(from, to);
  return std::span(links_).subspan(first_[at], first_[at + 1] - first_[at]);
}

Hops::Hops(const Topology& network, std::span<const int> node_of) {
  for (const Link& link : network.links())
    if (link.latency > 0 && (link_ == 0 || link.latency < link_)) link_ = link.latency;
  const auto apart = [&](NodeId host) {
    return node_of.empty() || node_of[static_cast<std::size_t>(host)] != node_of.front();
  };
  const std::vector<int> distance = distances_from(network, 0);
  NodeId nearest = -1;
  for (NodeId host = 1; host < network.hosts(); ++host) {
    const int here = distance[static_cast<std::size_t>(host)];
    if (here > 0 && apart(host) && (nearest < 0 || here < distance[static_cast<std::size_t>(nearest)])) nearest = host;
  }
  if (nearest >= 0) nearest_ = latency_of(network, ShortestPaths(network).path(0, nearest));
}

LinkConstants link_constants(const Topology& network) {
  LinkConstants constants;
  if (network.links().empty()) return constants;
  const Hops hops(network);
  constants.bandwidth_network = network.slowest_bandwidth();
  if (hops.link() > 0) constants.latency_hop = hops.link();
  const bool says_latency = std::ranges::any_of(
      network.links(), [](const Link& link) { return link.latency > 0 && link.latency != k_default_latency; });
  if (says_latency && hops.nearest() > 0) {
    constants.latency_network = hops.nearest();
  } else if (network.slowest_bandwidth() <= k_ethernet) {
    constants.latency_network = k_ethernet_latency;
    constants.overhead = k_ethernet_overhead;
  }
  return constants;
}

Machine machine_on(const LinkConstants& links, Machine machine) {
  machine.bandwidth_network = links.bandwidth_network.value_or(machine.bandwidth_network);
  machine.latency_hop = links.latency_hop.value_or(machine.latency_hop);
  machine.latency_network = links.latency_network.value_or(machine.latency_network);
  machine.overhead = links.overhead.value_or(machine.overhead);
  return machine;
}

}  // namespace colltopo
