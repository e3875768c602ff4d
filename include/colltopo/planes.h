// Planes of a network: several forwarding tables by destination, side by side.
//
// A network that forwards by destination has one next link per node and destination, so all that a node sends to a host
// goes one way. With several addresses per host, each with a table of its own, it has as many ways: addresses of
// several LIDs per port on InfiniBand (LMC), of several IP addresses per host on Ethernet. A plane is one such table in
// every node. Routes to the same host can share a plane exactly when they leave every node that both visit by the same
// link; then the plane's routes to a host are a tree into it, and nothing can loop.
#pragma once

#include <cstdint>
#include <vector>

#include "colltopo/layers.h"
#include "colltopo/topology.h"

namespace colltopo {

/// [route] its plane, from 0: few planes, by a greedy colouring of the routes to each host that is repeated until a
/// bound says that it cannot get better, or a few times. To every host, plane 0 has the most routes. Routes must be
/// paths of the topology that visit no node twice. The same for any number of threads; 0: all cores. Time per host and
/// repetition O(hops of the routes to it * planes).
std::vector<std::int32_t> planes_of(const Topology& topology, RouteLinks routes, int threads = 0);

/// No assignment has fewer planes: the most links by which routes to one host leave one node. Linear in the hops.
std::int32_t least_planes(const Topology& topology, RouteLinks routes);

}  // namespace colltopo
