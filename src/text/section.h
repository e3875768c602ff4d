// Sections: the program of a rank, and the routes.
#pragma once

#include <string>
#include <vector>

#include "text/header.h"

namespace colltopo::text {

Program read_section(Lines& lines, const Head& head, Rank rank);
void write_section(SealedLines& out, const Program& program);

std::vector<Route> read_routes(Lines& lines, const Head& head);
void write_routes_begin(SealedLines& out, std::size_t routes);
/// Some of them, in order: their lines, each with its end, to be sealed.
std::string route_lines(const std::vector<Route>& routes);

/// Empty when `route` may follow `before` (null: it is the first) in a schedule of this shape; otherwise why not.
std::string route_fault(const Shape& shape, const Route* before, const Route& route);

}  // namespace colltopo::text
