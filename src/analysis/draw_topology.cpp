// Topologies as pictures: where nodes stand, and cables or loads between them.
#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include <fmt/format.h>

#include "analysis/svg.h"
#include "colltopo/draw.h"
#include "colltopo/error.h"

namespace colltopo {

namespace {

constexpr double k_margin = 70;
constexpr double k_radius = 15;  // of a host

Point on_circle(Point centre, double radius, int index, int count) {
  const double angle = 2 * std::numbers::pi * index / std::max(count, 1) - std::numbers::pi / 2;
  return {centre.x + radius * std::cos(angle), centre.y + radius * std::sin(angle)};
}

/// The last side runs right, the one before down, the one before that back into the picture; further sides are blocks
/// to the right and below in turn.
std::vector<Point> grid_places(const Topology& topology) {
  const std::vector<int>& sides = topology.sides();
  const auto dimensions = sides.size();
  const double spacing = dimensions >= 3 ? 120 : 90;
  std::vector<Point> step(dimensions);  // per coordinate
  Point extent{0, 0};
  for (std::size_t back = 0; back < dimensions; ++back) {
    const std::size_t dimension = dimensions - 1 - back;
    Point& s = step[dimension];
    if (back == 0)
      s = {spacing, 0};
    else if (back == 1)
      s = {0, spacing};
    else if (back == 2)
      s = {48, -38};
    else if (back % 2 == 1)
      s = {extent.x + 1.2 * spacing, 0};
    else
      s = {0, extent.y + 1.2 * spacing};
    extent = extent + (sides[dimension] - 1.0) * Point{std::abs(s.x), std::abs(s.y)};
  }
  std::vector<Point> places;
  for (NodeId host = 0; host < topology.hosts(); ++host) {
    Point place{0, 0};
    NodeId stride = topology.hosts();
    for (std::size_t dimension = 0; dimension < dimensions; ++dimension) {
      stride /= sides[dimension];
      place = place + static_cast<double>(host / stride % sides[dimension]) * step[dimension];
    }
    places.push_back(place);
  }
  return places;
}

std::vector<Point> circle_places(const Topology& topology) {
  const double radius = std::max(110.0, topology.hosts() * 2.6 * k_radius / (2 * std::numbers::pi));
  std::vector<Point> places;
  places.reserve(static_cast<std::size_t>(topology.hosts()) + static_cast<std::size_t>(topology.switches()));
  for (NodeId host = 0; host < topology.hosts(); ++host)
    places.push_back(on_circle({0, 0}, radius, host, topology.hosts()));
  for (NodeId i = 0; i < topology.switches(); ++i)
    places.push_back(on_circle({0, 0}, topology.switches() == 1 ? 0 : radius / 2, i, topology.switches()));
  return places;
}

struct Picture {
  std::vector<Point> places;
  double width = 0, height = 0;
};

Picture placed(const Topology& topology) {
  const bool is_circle = topology.sides().empty() || (topology.sides().size() == 1 && topology.wraps());
  Picture picture{is_circle ? circle_places(topology) : grid_places(topology)};
  Point least = picture.places.front(), most = least;
  for (const Point& p : picture.places) {
    least = {std::min(least.x, p.x), std::min(least.y, p.y)};
    most = {std::max(most.x, p.x), std::max(most.y, p.y)};
  }
  for (Point& p : picture.places) p = p - least + Point{k_margin, k_margin + 40};
  picture.width = std::max(460.0, most.x - least.x + 2 * k_margin);
  picture.height = most.y - least.y + 2 * k_margin + 70;
  return picture;
}

/// How far a cable must bow so that it does not run through the nodes between its ends: wrap-around cables, and those
/// from block to block of grids of more than three sides.
double bow_of(const Topology& topology, NodeId a, NodeId b) {
  const std::size_t dimensions = topology.sides().size();
  if (dimensions < 2) return 0;
  NodeId stride = topology.hosts();
  for (std::size_t dimension = 0; dimension < dimensions; ++dimension) {
    const int side = topology.sides()[dimension];
    stride /= side;
    const int apart = std::abs(a / stride % side - b / stride % side);
    if (apart > 1) return 22.0 + 5.0 * std::min(apart, 6);
    if (apart == 1 && dimension + 3 < dimensions) return 26;
  }
  return 0;
}

void draw_cables(Svg& svg, const Topology& topology, const Picture& picture) {
  std::map<std::pair<NodeId, NodeId>, int> links;  // both directions of a cable are one line
  for (const Link& link : topology.links()) ++links[{link.tail, link.head}];
  for (const auto& [ends, count] : links) {
    const auto [tail, head] = ends;
    const auto back = links.find({head, tail});
    const int backwards = back == links.end() ? 0 : back->second;
    const Point from = picture.places[static_cast<std::size_t>(tail)],
                to = picture.places[static_cast<std::size_t>(head)];
    const double bow = bow_of(topology, tail, head);
    const Stroke stroke{bow == 0 ? "#667788" : "#a9b4c0", count > 1 ? 1.2 + 0.8 * count : 1.4};
    const Point unit = 1 / std::max(1.0, length(to - from)) * (to - from);
    if (backwards == 0)
      svg.arrow(from + k_radius * unit, to - (k_radius + 1) * unit, bow, stroke);
    else if (tail < head)
      svg.curve(from, to, bow, stroke);
    if ((count > 1 || backwards > 1) && tail < head)
      svg.text(0.5 * (from + to), fmt::format("{}x", std::max(count, backwards)), {.size = 10, .halo = true});
  }
}

/// Loads per bandwidth, the busiest being 1.
std::vector<double> shares_of(const Topology& topology, const std::vector<double>& loads) {
  std::vector<double> shares(loads.size());
  double most = 0;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    shares[i] = loads[i] / topology.links()[i].bandwidth;
    most = std::max(most, shares[i]);
  }
  if (most > 0)
    for (double& share : shares) share /= most;
  return shares;
}

void draw_loads(Svg& svg, const Topology& topology, const Picture& picture, const std::vector<double>& loads) {
  const std::vector<double> shares = shares_of(topology, loads);
  const bool few = loads.size() <= 120;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    const Link& link = topology.links()[i];
    const Point from = picture.places[static_cast<std::size_t>(link.tail)];
    const Point to = picture.places[static_cast<std::size_t>(link.head)];
    const Point unit = 1 / std::max(1.0, length(to - from)) * (to - from);
    // Traffic keeps to the left of the cable, so both directions are seen.
    const Point aside = (few ? 3.5 : 2.2) * normal(to - from);
    double bow = bow_of(topology, link.tail, link.head);
    if (bow != 0 && link.tail > link.head) bow = -bow;
    const Stroke stroke{loads[i] == 0 ? "#dde3ea" : heat(shares[i]),
                        loads[i] == 0 ? 1 : 1.1 + (few ? 3.5 : 1.2) * shares[i]};
    svg.arrow(from + k_radius * unit + aside, to - (k_radius + 2) * unit + aside, bow, stroke);
    if (few && loads[i] > 0)
      svg.text(0.5 * (from + to) + 0.12 * (to - from) + 3 * aside + bow * normal(to - from),
               fmt::format("{:.3g}", loads[i]), {.size = 10, .halo = true});
  }
  double most = 0;
  for (const double load : loads) most = std::max(most, load);
  const double y = picture.height - 24;
  for (int i = 0; i < 60; ++i) svg.rectangle({k_margin + 2.0 * i, y - 6}, 2.5, 12, heat(i / 59.0), {"none", 0, false});
  svg.text({k_margin - 8, y}, "0", {.size = 11, .anchor = Anchor::end});
  svg.text({k_margin + 130, y}, fmt::format("{:.4g} times the bytes of a call on the busiest link", most),
           {.size = 11, .anchor = Anchor::start});
}

void draw_nodes(Svg& svg, const Topology& topology, const Picture& picture) {
  for (NodeId node = 0; node < topology.nodes(); ++node) {
    const Point at = picture.places[static_cast<std::size_t>(node)];
    const std::string& name = topology.node_name(node);
    const double size = name.size() <= 3 ? 12 : 9;
    if (topology.is_host(node)) {
      svg.circle(at, k_radius, "#eaf2fb", {"#2b5c8a", 1.4, false});
    } else {
      svg.rectangle(at - Point{k_radius + 2, k_radius - 3}, 2 * k_radius + 4, 2 * k_radius - 6, "#fdf0dc",
                    {"#a5681c", 1.4, false});
    }
    svg.text(at, name, {.size = size});
  }
}

void check_size(const Topology& topology, std::size_t marks) {
  if (marks > k_most_marks)
    throw Error(fmt::format("{}: {} links to draw; at most {} can be read, draw a smaller one of the same family",
                            topology.name(), marks, k_most_marks));
}

std::string adjacency(const Topology& topology) {
  std::string text;
  for (NodeId node = 0; node < topology.nodes(); ++node) {
    text += fmt::format("{:>6} ->", topology.node_name(node));
    for (const LinkId link : topology.links_out(node)) text += " " + topology.node_name(topology.link(link).head);
    text += '\n';
  }
  return text;
}

// "0 -- 1 -- 2 --": a trailing cable goes round to the first.
std::string text_grid(const Topology& topology) {
  const std::vector<int>& sides = topology.sides();
  const int columns = sides.back();
  const int rows = topology.hosts() / columns;
  const auto wide = std::to_string(topology.hosts() - 1).size();
  const auto goes_round = [&](int side) { return topology.wraps() && side > 2; };
  std::string text, below;
  for (int column = 0; column < columns; ++column) below += fmt::format("{:>{}}   ", "|", wide);
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column)
      text += fmt::format("{:>{}}{}", row * columns + column, wide,
                          column + 1 < columns || goes_round(columns) ? " - " : "");
    text += '\n';
    if (row + 1 < rows || goes_round(rows)) text += below.substr(0, below.find_last_of('|') + 1) + '\n';
  }
  return text;
}

}  // namespace

std::string topology_svg(const Topology& topology, const std::vector<double>& loads, const std::string& title) {
  check_size(topology, topology.links().size());
  const Picture picture = placed(topology);
  Svg svg(picture.width, picture.height);
  svg.text({24, 24}, title.empty() ? topology.name() : title, {.size = 15, .anchor = Anchor::start, .bold = true});
  svg.text(
      {24, 44},
      fmt::format("{} hosts, {} switches, {} links", topology.hosts(), topology.switches(), topology.links().size()),
      {.size = 11, .colour = "#556677", .anchor = Anchor::start});
  if (loads.empty())
    draw_cables(svg, topology, picture);
  else
    draw_loads(svg, topology, picture, loads);
  draw_nodes(svg, topology, picture);
  return std::move(svg).finish();
}

std::string topology_text(const Topology& topology, const std::vector<double>& loads) {
  std::string text = fmt::format("{}: {} hosts, {} switches, {} links\n\n", topology.name(), topology.hosts(),
                                 topology.switches(), topology.links().size());
  check_size(topology, loads.empty() ? static_cast<std::size_t>(topology.nodes()) : loads.size());
  if (loads.empty())
    return text +
           (topology.sides().size() == 1 || topology.sides().size() == 2 ? text_grid(topology) : adjacency(topology));

  const std::vector<double> shares = shares_of(topology, loads);
  text += "load (times the bytes of a call) of every link; the bar is load per bandwidth\n";
  for (std::size_t i = 0; i < loads.size(); ++i) {
    const auto bar = static_cast<std::size_t>(std::lround(40 * shares[i]));
    text += fmt::format("{:>16} {:>9.4g} {}\n", topology.link_name(static_cast<LinkId>(i)), loads[i],
                        std::string(bar, '#'));
  }
  return text;
}

}  // namespace colltopo
