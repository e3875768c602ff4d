// Where the nodes of a topology stand in its picture: grids as grids, trees and layers of switches as such, dragonflies
// as a ring of routers, and the rest as Graphviz lays them out.
#pragma once

#include <string>
#include <vector>

#include "analysis/svg.h"
#include "colltopo/topology.h"

namespace colltopo::drawing {

struct Layout {
  std::vector<Point> places;  // [node]
  bool is_grid = false;       // hosts stand as Topology::arrangement() says
  std::string remark;         // for the reader of the picture, when it is not as it should be
};

Layout layout_of(const Topology& topology);

/// Nodes by Graphviz, in points; false when the program cannot be run or does not answer.
bool place_by_graphviz(const Topology& topology, std::vector<Point>& places);

}  // namespace colltopo::drawing
