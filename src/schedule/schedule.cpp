#include "colltopo/schedule.h"

#include <algorithm>

namespace colltopo {

Step Schedule::steps() const {
  Step last = 0;
  for (const Program& program : programs) last = std::max(last, program.last_step());
  return last;
}

Schedule schedule_of(std::string name, const Shape& shape, const std::function<Program(Rank)>& program_of) {
  Schedule schedule;
  schedule.name = std::move(name);
  schedule.shape = shape;
  schedule.programs.reserve(static_cast<std::size_t>(shape.ranks));
  for (Rank rank = 0; rank < shape.ranks; ++rank) schedule.programs.push_back(program_of(rank));
  return schedule;
}

}  // namespace colltopo
