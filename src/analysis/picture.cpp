#include "analysis/picture.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace colltopo::drawing {

namespace {

/// Of cables between hosts of a grid: wrap-around cables bow, and those from block to block of more than three sides.
double bow_in_grid(const Topology& topology, NodeId a, NodeId b) {
  const std::vector<int>& sides = topology.arrangement();
  if (sides.size() < 2 && topology.wraps()) return 0;
  NodeId stride = topology.hosts();
  for (std::size_t dimension = 0; dimension < sides.size(); ++dimension) {
    stride /= sides[dimension];
    const int apart = std::abs(a / stride % sides[dimension] - b / stride % sides[dimension]);
    if (apart > 1) return 22.0 + 5.0 * std::min(apart, 6);
    if (apart == 1 && dimension + 3 < sides.size()) return 26;
  }
  return 0;
}

/// How many nodes the straight line between two would run through.
int nodes_between(const Picture& picture, NodeId a, NodeId b) {
  const Point from = picture.place(a), line = picture.place(b) - from;
  const double squared = line.x * line.x + line.y * line.y;
  int between = 0;
  for (std::size_t node = 0; node < picture.layout.places.size() && squared > 0; ++node) {
    const Point to_node = picture.layout.places[node] - from;
    const double along = (to_node.x * line.x + to_node.y * line.y) / squared;
    if (along <= 0.01 || along >= 0.99) continue;
    if (length(to_node - along * line) < k_radius) ++between;
  }
  return between;
}

}  // namespace

Picture placed(const Topology& topology, double width_of_heading, double width_of_legend) {
  Picture picture{layout_of(topology)};
  Point least = picture.layout.places.front(), most = least;
  for (const Point& p : picture.layout.places) {
    least = {std::min(least.x, p.x), std::min(least.y, p.y)};
    most = {std::max(most.x, p.x), std::max(most.y, p.y)};
  }
  picture.width = std::max({380.0, most.x - least.x + 2 * k_margin, width_of_heading + 48, width_of_legend + 48});
  // In the middle where the text is wider than the network.
  const double left = std::max(k_margin, (picture.width - (most.x - least.x)) / 2);
  for (Point& p : picture.layout.places) p = p - least + Point{left, k_margin + 40};
  picture.height = most.y - least.y + 2 * k_margin + 70;
  return picture;
}

double bow_of(const Topology& topology, const Picture& picture, NodeId a, NodeId b) {
  if (picture.layout.is_grid && topology.is_host(a) && topology.is_host(b)) return bow_in_grid(topology, a, b);
  const int between = nodes_between(picture, a, b);
  return between == 0 ? 0 : 22.0 + 5.0 * std::min(between, 6);
}

}  // namespace colltopo::drawing
