// Pictures of topologies and schedules: SVG, and plain text for terminals.
//
// The same input gives the same bytes. Loads of any number of links can be drawn, and the traffic of any schedule; what
// else is too large to be readable (more than k_most_marks links or messages) throws Error that says what to draw
// instead.
#pragma once

#include <string>
#include <vector>

#include "colltopo/schedule.h"
#include "colltopo/topology.h"

namespace colltopo {

inline constexpr std::size_t k_most_marks = 6000;

/// How loads are written and coloured.
struct LoadScale {
  std::string unit = "times the bytes of a call";
  double unit_size = 1;  // loads are divided by it for people
  double darkest = 0;    // the load of a slowest link that is drawn darkest; 0: what is busiest per bandwidth
};

/// Grids as grids, trees as trees, other switched networks in layers or as a ring of routers, the rest as Graphviz lays
/// them out; without that program as a circle, which the picture then remarks. With `loads` ([link], from
/// link_loads) each direction of a cable is an arrow whose colour and width are its load per bandwidth; of more than
/// k_most_marks links, load_profile_svg.
std::string topology_svg(const Topology& topology, const std::vector<double>& loads = {}, const std::string& title = "",
                         const LoadScale& scale = {});
std::string topology_text(const Topology& topology, const std::vector<double>& loads = {}, const LoadScale& scale = {});
/// The loads of all links, busiest first, as a curve: for any number of links.
std::string load_profile_svg(const Topology& topology, const std::vector<double>& loads, const std::string& title,
                             const LoadScale& scale = {});

/// Chunks from every rank to every other, of one step or of all (0), as a square: for any number of messages.
std::string traffic_svg(const Schedule& schedule, Step step = 0);

/// A space-time diagram: ranks down, steps across, an arrow per message with its chunks; squares are copies, crosses
/// reductions.
std::string schedule_svg(const Schedule& schedule);
/// One step: ranks on a circle, an arrow per message with its chunks.
std::string step_svg(const Schedule& schedule, Step step);

/// A table: ranks down, steps across.
std::string schedule_text(const Schedule& schedule);
/// One step: every op with the runs that it reads and writes.
std::string step_text(const Schedule& schedule, Step step);

}  // namespace colltopo
