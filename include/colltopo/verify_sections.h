// Proof and cost of schedules that are too large to have in memory whole.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "colltopo/cost.h"
#include "colltopo/sections.h"
#include "colltopo/verify.h"

namespace colltopo {

/// As verify() of the whole schedule. An all-to-all in which every shard goes straight to its rank, which is what all
/// routings are, is proved rank by rank in about 50 bytes per message; any other is put together in memory first.
Verdict verify(const SectionedSchedule& schedule);

/// What a pass over all sections finds on a network.
struct SectionsOn {
  std::vector<Violation> violations = {};  // as verify_on() finds them, at most 20
  Cost cost = {};                          // as cost_of(); without violations
  std::vector<double> loads = {};          // [link] as link_loads(), of all steps; without violations
  std::size_t routes = 0;
  std::set<std::int32_t> layers = {};
  std::int32_t planes = 0;  // one more than the largest lane of a route
};
/// As verify_on() and cost_of() of the whole schedule, in one pass, on several threads. Time O(the routes' links),
/// memory O(links * steps) and, per layer, the pairs of links that follow each other.
SectionsOn examine_on(const SectionedSchedule& schedule, const Topology& topology, Fabric fabric = Fabric::lossless);

}  // namespace colltopo
