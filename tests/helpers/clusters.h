// Clusters as Faraj, Patarasuk and Yuan draw them: switches joined by cables, machines on switches.
#pragma once

#include <random>
#include <utility>
#include <vector>

#include "colltopo/topology.h"

namespace colltopo {

/// `machines_on`: [switch], numbered switch by switch. Cables join switches by their index.
inline Topology cluster(const std::vector<int>& machines_on, const std::vector<std::pair<int, int>>& cables) {
  NodeId machines = 0;
  for (const int count : machines_on) machines += count;
  TopologyBuilder builder("cluster", machines, static_cast<std::int64_t>(machines_on.size()));
  NodeId machine = 0;
  for (std::size_t at = 0; at < machines_on.size(); ++at)
    for (int i = 0; i < machines_on[at]; ++i) builder.cable(machine++, machines + static_cast<NodeId>(at));
  for (const auto& [a, b] : cables) builder.cable(machines + a, machines + b);
  return std::move(builder).build();
}

/// Switches in a random tree with `more` cables besides, machines anywhere.
inline Topology random_cluster(int switches, int machines, int more, unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](int limit) { return static_cast<int>(random() % static_cast<unsigned>(limit)); };
  std::vector<int> machines_on(static_cast<std::size_t>(switches), 0);
  for (int i = 0; i < machines; ++i) ++machines_on[static_cast<std::size_t>(below(switches))];
  std::vector<std::pair<int, int>> cables;
  for (int at = 1; at < switches; ++at) cables.emplace_back(at, below(at));
  for (int i = 0; i < more; ++i) {
    const int a = below(switches), b = below(switches);
    if (a != b) cables.emplace_back(a, b);
  }
  return cluster(machines_on, cables);
}

}  // namespace colltopo
