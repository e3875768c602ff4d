// The clusters of section 5.2 of Faraj, Patarasuk and Yuan: five machines to a switch, each on a switch drawn at
// random, and four cables to others from a switch on average. GT-ITM's graphs are replaced by random ones: a random
// tree, which joins all switches, and cables between random pairs.
#pragma once

#include <algorithm>
#include <random>
#include <set>
#include <utility>

#include "colltopo/topology.h"

namespace colltopo {

inline constexpr int k_machines_per_switch = 5;
inline constexpr std::size_t k_cables_per_switch = 2;  // each has two ends

inline Topology random_cluster(NodeId machines, unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](NodeId limit) { return static_cast<NodeId>(random() % static_cast<unsigned>(limit)); };
  const NodeId switches = machines / k_machines_per_switch;
  std::set<std::pair<NodeId, NodeId>> cables;
  for (NodeId at = 1; at < switches; ++at) cables.emplace(below(at), at);
  while (cables.size() < k_cables_per_switch * static_cast<std::size_t>(switches)) {
    const NodeId a = below(switches), b = below(switches);
    if (a != b) cables.emplace(std::min(a, b), std::max(a, b));
  }
  TopologyBuilder builder("random cluster", machines, switches);
  for (NodeId machine = 0; machine < machines; ++machine) builder.cable(machine, machines + below(switches));
  for (const auto& [a, b] : cables) builder.cable(machines + a, machines + b);
  return std::move(builder).build();
}

}  // namespace colltopo
