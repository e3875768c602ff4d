// A schedule by sections: programs and routes are made, or read from a file, one rank at a time, so that those of
// thousands of ranks need not be in memory together (docs/decisions/0022).
#pragma once

#include <functional>
#include <vector>

#include "colltopo/schedule.h"

namespace colltopo {

struct SectionedSchedule {
  Schedule facts;  // all that is not by rank: it has no programs and no routes
  Step steps = 0;  // the largest step of any op
  bool has_routes = false;
  int threads = 0;  // on which sections are made where all are used; 0: all cores
  /// Both may be called for any rank, in any order, by several threads, and give the same each time. Routes are those
  /// from the rank, sorted by target and lane.
  std::function<Program(Rank rank)> program;
  std::function<std::vector<Route>(Rank source)> routes;
};

/// A schedule in memory, which must outlive this.
SectionedSchedule sections_of(const Schedule& schedule);

/// All sections together.
Schedule whole(const SectionedSchedule& sections);

}  // namespace colltopo
