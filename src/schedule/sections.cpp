// Sections of a schedule in memory, and back.
#include "colltopo/sections.h"

#include <algorithm>

namespace colltopo {

SectionedSchedule sections_of(const Schedule& schedule) {
  SectionedSchedule sections;
  sections.facts = {schedule.name,          schedule.shape, {}, {}, schedule.topology, schedule.bound,
                    schedule.topology_name, schedule.proof};
  sections.steps = schedule.steps();
  sections.has_routes = !schedule.routes.empty();
  sections.program = [&schedule](Rank rank) { return schedule.programs[static_cast<std::size_t>(rank)]; };
  sections.routes = [&schedule](Rank source) {
    const auto [begin, end] = std::ranges::equal_range(schedule.routes, source, {}, &Route::source);
    return std::vector<Route>(begin, end);
  };
  return sections;
}

Schedule whole(const SectionedSchedule& sections) {
  Schedule schedule = sections.facts;
  for (Rank rank = 0; rank < schedule.shape.ranks; ++rank) {
    schedule.programs.push_back(sections.program(rank));
    if (!sections.has_routes) continue;
    for (Route& route : sections.routes(rank)) schedule.routes.push_back(std::move(route));
  }
  return schedule;
}

}  // namespace colltopo
