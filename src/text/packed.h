// Sections as bytes: what the ops and routes of nearly every schedule are is foreseen, and only what is otherwise is
// written (docs/schedule.md, "Binary files").
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "colltopo/schedule.h"

namespace colltopo::text {

std::string packed(const Program& program);
std::string packed(const std::vector<Route>& routes, const Shape& shape, Rank source);

/// Both throw Error saying what is there and what was expected; whoever read the bytes knows from where.
Program unpacked_program(std::string_view bytes, const Shape& shape, Rank rank, Step last_step);
std::vector<Route> unpacked_routes(std::string_view bytes, const Shape& shape, Rank source);

}  // namespace colltopo::text
