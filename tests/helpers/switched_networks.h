// Small random networks of hosts and switches with cables of unlike speeds.
#pragma once

#include <random>

#include "colltopo/topology.h"

namespace colltopo {

/// Connected, links in both directions of equal bandwidth (1 to 4 GB/s): a random tree over all nodes, in which every
/// host has somebody to hang on, and `more` cables.
inline Topology switched_network(NodeId hosts, NodeId switches, int more, unsigned seed) {
  std::mt19937 random(seed);
  TopologyBuilder builder("random switched network", hosts, switches);
  const auto below = [&](NodeId bound) { return static_cast<NodeId>(random() % static_cast<unsigned>(bound)); };
  const auto cable = [&](NodeId a, NodeId b) {
    const double bandwidth = 1e9 * (1 + below(4));
    builder.link(a, b, bandwidth).link(b, a, bandwidth);
  };
  const NodeId nodes = hosts + switches;
  for (NodeId node = 1; node < nodes; ++node) cable(node, below(node));
  for (int i = 0; i < more; ++i) {
    const NodeId a = below(nodes), b = below(nodes);
    if (a != b) cable(a, b);
  }
  return std::move(builder).build();
}

}  // namespace colltopo
