// A routing in whole chunks as a schedule: what a network with routes of its own runs (Basu et al., section 4,
// "Path-based Schedules").
#pragma once

#include <span>
#include <string>

#include "colltopo/chunking.h"
#include "colltopo/layers.h"
#include "colltopo/schedule.h"
#include "colltopo/sections.h"

namespace colltopo {

/// One message per path of the routing: lane i of a pair is its i-th path and carries the chunks that follow those of
/// the lanes before. Rank r runs on host r; own shards are copied; there is no scratch.
///
/// All messages belong to one step, because the time of a routing is that of all its paths at once. Every rank serves
/// its peers by distance: rank r sends to r + 1, then to r + 2, and so on, and receives likewise from r - 1, r - 2, so
/// that messages started at the same time go to different ranks.
///
/// `layers`: [path of the routing]; empty: all in layer 0. Linear in the hops of all paths.
Schedule routed_alltoall(std::string name, const Topology& topology, const Chunked& chunked,
                         std::span<const std::int32_t> layers = {});

/// The same by sections, with planes as lanes (planes.h) and in layers; nothing is written out but the rank asked for.
/// Paths of a pair that are the same become one.
SectionedSchedule routed_sections(std::string name, const Topology& topology, Chunked chunked, LayerMethod layers,
                                  int threads = 1);

/// Layers of a routing's paths.
std::vector<std::int32_t> layers_of(const Topology& topology, const Routing& routing, LayerMethod method);

/// What a schedule's routes and messages are shares of: the opposite of routed_alltoall. Throws Error naming a message
/// without a route. Only for alltoall.
Routing routing_of(const Schedule& schedule);

}  // namespace colltopo
