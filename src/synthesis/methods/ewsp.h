// Equal-weight shortest paths (EwSP; Basu et al., 5.2): the demand of a pair spread evenly over all its shortest paths.
//
// The method's routing lists at most k_most_candidates of them per pair; the loads here count all.
#pragma once

#include <vector>

#include "colltopo/topology.h"

namespace colltopo::synthesis {

/// [link] the load when all shortest paths of every pair carry the same, however many there are: counted, not listed.
/// Throws Error naming a host that cannot be reached. Threads: 0 = all.
std::vector<double> equal_weight_loads(const Topology& topology, int threads = 0);

}  // namespace colltopo::synthesis
