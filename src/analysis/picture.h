// A topology laid out for a picture: places of nodes, and how cables bow around what stands between their ends.
#pragma once

#include "analysis/layout_topology.h"
#include "analysis/svg.h"
#include "colltopo/draw.h"
#include "colltopo/topology.h"

namespace colltopo::drawing {

inline constexpr double k_margin = 70;
inline constexpr double k_radius = 15;  // of a host

struct Picture {
  Layout layout;
  double width = 0, height = 0;

  Point place(NodeId node) const { return layout.places[static_cast<std::size_t>(node)]; }
};

/// With room for a heading above, a legend below, and these two lines in its width.
Picture placed(const Topology& topology, double width_of_heading, double width_of_legend);

/// How far a cable must bow so that it does not run through the nodes between its ends.
double bow_of(const Topology& topology, const Picture& picture, NodeId a, NodeId b);

/// [link] load per bandwidth, where 1 is drawn darkest.
std::vector<double> shares_of(const Topology& topology, const std::vector<double>& loads, double darkest);

/// An arrow for each link and direction, the loads beside them where there is room, and the scale below.
void draw_loads(Svg& svg, const Topology& topology, const Picture& picture, const std::vector<double>& loads,
                const LoadScale& scale);
/// What the scale says of the busiest link.
std::string legend_text(const Topology& topology, const std::vector<double>& loads, const LoadScale& scale);

}  // namespace colltopo::drawing
