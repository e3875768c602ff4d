// What `colltopo prepare` is asked for, and what a network's schedules are made on.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "colltopo/choice.h"
#include "colltopo/node_network.h"
#include "colltopo/topology.h"

namespace colltopo::prepare {

struct Ground {
  Topology machine;                          // the network of the hosts, without what is broken
  Topology network;                          // of the ranks: the same where every host has one
  std::vector<int> ranks_on;                 // [host of the machine]
  std::vector<int> node_of;                  // [rank]
  std::vector<int> dimensions;               // sides of the machine's grid; empty: none
  std::shared_ptr<const NodeNetwork> links;  // between nodes; null: too many
  Machine prices;                            // the machine's constants

  Rank ranks() const { return network.hosts(); }
  bool one_per_host() const { return network.hosts() == machine.hosts(); }
  Placement placement() const { return {node_of, dimensions, links}; }
};

/// `machine` with so many ranks on each host; `prices`: the constants, with those of the machine's links.
Ground ground_on(Topology machine, std::vector<int> ranks_on, const Machine& prices);

/// Says what is being done.
using Say = std::function<void(const std::string& line)>;

}  // namespace colltopo::prepare
