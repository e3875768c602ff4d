// Which hosts, and which links, are alike: their orbits under the automorphisms of the network, found by bliss.
//
// An automorphism renumbers the nodes so that hosts stay hosts, switches stay switches and every link falls on a link
// of the same bandwidth. Latencies, names and the order of links do not count, so all parallel links of one bandwidth
// are alike. What is computed for one member of an orbit holds for all (the flows of Basu et al., section 3).
#pragma once

#include <vector>

#include "colltopo/topology.h"

namespace colltopo {

struct Orbits {
  std::vector<int> host_orbit;  // [host], numbered by their first member from 0
  std::vector<int> link_orbit;  // [link], likewise
  int host_orbits = 0;
  int link_orbits = 0;
  /// [generator][node]: where the node goes. Together they generate the whole group.
  std::vector<std::vector<NodeId>> generators;
  /// log10 of the number of automorphisms; 0: only the identity.
  double log10_group_size = 0;
};

Orbits orbits_of(const Topology& topology);

/// The facts where orbits are known: distances are measured from one host of each.
TopologyFacts facts_of(const Topology& topology, const Orbits& orbits);

}  // namespace colltopo
