// Random networks and routings: what properties are tried on.
#pragma once

#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "colltopo/routing.h"

namespace colltopo {

/// Strongly connected: a ring through all nodes in a random order, and as many links again between random nodes, some
/// of them several times as fast.
inline Topology random_network(std::uint32_t seed, NodeId hosts, NodeId switches = 0) {
  std::mt19937 random(seed);
  const auto below = [&](NodeId limit) { return static_cast<NodeId>(random() % static_cast<std::uint32_t>(limit)); };
  const NodeId nodes = hosts + switches;
  std::vector<NodeId> ring(static_cast<std::size_t>(nodes));
  for (NodeId node = 0; node < nodes; ++node) ring[static_cast<std::size_t>(node)] = node;
  for (std::size_t i = ring.size(); i > 1; --i) std::swap(ring[i - 1], ring[random() % i]);
  TopologyBuilder builder("random " + std::to_string(seed), hosts, switches);
  for (std::size_t i = 0; i < ring.size(); ++i) builder.link(ring[i], ring[(i + 1) % ring.size()], 1e9);
  for (NodeId i = 0; i < 2 * nodes; ++i) {
    const NodeId tail = below(nodes), head = below(nodes);
    if (tail != head) builder.link(tail, head, 1e9 * (1 + below(3)));
  }
  return std::move(builder).build();
}

/// A path without a node visited twice: a depth-first search that looks at links in a random order.
inline std::vector<LinkId> random_path(const Topology& topology, NodeId source, NodeId target, std::mt19937& random) {
  std::vector<bool> seen(static_cast<std::size_t>(topology.nodes()), false);
  std::vector<LinkId> path;
  const std::function<bool(NodeId)> reach = [&](NodeId at) {
    if (at == target) return true;
    seen[static_cast<std::size_t>(at)] = true;
    std::vector<LinkId> links(topology.links_out(at).begin(), topology.links_out(at).end());
    for (std::size_t i = links.size(); i > 1; --i) std::swap(links[i - 1], links[random() % i]);
    for (const LinkId link : links) {
      if (seen[static_cast<std::size_t>(topology.link(link).head)]) continue;
      path.push_back(link);
      if (reach(topology.link(link).head)) return true;
      path.pop_back();
    }
    return false;
  };
  reach(source);
  return path;
}

/// Every pair on `most` different paths or fewer, with weights that are no multiples of anything.
inline Routing random_routing(const Topology& topology, std::uint32_t seed, int most) {
  std::mt19937 random(seed);
  Routing routing(topology.hosts());
  for (NodeId source = 0; source < topology.hosts(); ++source)
    for (NodeId target = 0; target < topology.hosts(); ++target) {
      if (source == target) continue;
      std::vector<std::vector<LinkId>> paths;
      for (int i = 0; i < most; ++i) paths.push_back(random_path(topology, source, target, random));
      std::sort(paths.begin(), paths.end());
      paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
      std::vector<double> weights;
      double sum = 0;
      for (std::size_t i = 0; i < paths.size(); ++i) {
        weights.push_back(1 + static_cast<double>(random() % 1000000));
        sum += weights.back();
      }
      for (std::size_t i = 0; i < paths.size(); ++i) routing.add(source, target, weights[i] / sum, paths[i]);
    }
  return routing;
}

/// Every pair on its one path by ShortestPaths.
inline Routing shortest_routing(const Topology& topology) {
  const ShortestPaths shortest(topology);
  Routing routing(topology.hosts());
  for (NodeId source = 0; source < topology.hosts(); ++source)
    for (NodeId target = 0; target < topology.hosts(); ++target)
      if (source != target) routing.add(source, target, 1, shortest.path(source, target));
  return routing;
}

}  // namespace colltopo
