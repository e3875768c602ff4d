// Lengths and loads of links as files, and the unit that times of flows are in.
#pragma once

#include <string>

#include "cli/command.h"
#include "colltopo/routing.h"

namespace colltopo::cli {

/// Writes what a bound is asked for: lengths and loads of links (files; "-": standard output; "": not), says so in the
/// report, and prints it.
void print_with_files(Report& report, const Topology& topology, const FlowBound& bound, const std::string& lengths,
                      const std::string& loads, const Session& session);

}  // namespace colltopo::cli
