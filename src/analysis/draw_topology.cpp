// Topologies as pictures: nodes, and cables or loads between them.
#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "analysis/layout_topology.h"
#include "analysis/svg.h"
#include "colltopo/draw.h"
#include "colltopo/error.h"

namespace colltopo {

using namespace drawing;

namespace {

constexpr double k_margin = 70;
constexpr double k_radius = 15;  // of a host

struct Picture {
  Layout layout;
  double width = 0, height = 0;

  Point place(NodeId node) const { return layout.places[static_cast<std::size_t>(node)]; }
};

Picture placed(const Topology& topology) {
  Picture picture{layout_of(topology)};
  Point least = picture.layout.places.front(), most = least;
  for (const Point& p : picture.layout.places) {
    least = {std::min(least.x, p.x), std::min(least.y, p.y)};
    most = {std::max(most.x, p.x), std::max(most.y, p.y)};
  }
  for (Point& p : picture.layout.places) p = p - least + Point{k_margin, k_margin + 40};
  picture.width = std::max(460.0, most.x - least.x + 2 * k_margin);
  picture.height = most.y - least.y + 2 * k_margin + 70;
  return picture;
}

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

/// How far a cable must bow so that it does not run through the nodes between its ends.
double bow_of(const Topology& topology, const Picture& picture, NodeId a, NodeId b) {
  if (picture.layout.is_grid && topology.is_host(a) && topology.is_host(b)) return bow_in_grid(topology, a, b);
  const int between = nodes_between(picture, a, b);
  return between == 0 ? 0 : 22.0 + 5.0 * std::min(between, 6);
}

/// All links from one node to another.
struct Bundle {
  int links = 0;
  double bandwidth = 0;
};

// Wider where there is more bandwidth.
void draw_cables(Svg& svg, const Topology& topology, const Picture& picture) {
  std::map<std::pair<NodeId, NodeId>, Bundle> bundles;
  double slowest = 0;
  for (const Link& link : topology.links()) {
    Bundle& bundle = bundles[{link.tail, link.head}];
    ++bundle.links;
    bundle.bandwidth += link.bandwidth;
    slowest = slowest == 0 ? link.bandwidth : std::min(slowest, link.bandwidth);
  }
  for (const auto& [ends, bundle] : bundles) {
    const auto [tail, head] = ends;
    const auto back = bundles.find({head, tail});
    const int backwards = back == bundles.end() ? 0 : back->second.links;
    if (backwards > 0 && tail > head) continue;  // both directions of a cable are one line
    const Point from = picture.place(tail), to = picture.place(head);
    const double bow = bow_of(topology, picture, tail, head);
    const Stroke stroke{bow == 0 ? "#667788" : "#a9b4c0", std::min(1.4 * std::sqrt(bundle.bandwidth / slowest), 6.0)};
    const Point unit = 1 / std::max(1.0, length(to - from)) * (to - from);
    if (backwards == 0)
      svg.arrow(from + k_radius * unit, to - (k_radius + 1) * unit, bow, stroke);
    else
      svg.curve(from, to, bow, stroke);
    if (bundle.links > 1 || backwards > 1)
      svg.text(0.5 * (from + to) + bow * normal(to - from), fmt::format("{}x", std::max(bundle.links, backwards)),
               {.size = 10, .halo = true});
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
    const Point from = picture.place(link.tail);
    const Point to = picture.place(link.head);
    const Point unit = 1 / std::max(1.0, length(to - from)) * (to - from);
    // Traffic keeps to the left of the cable, so both directions are seen.
    const Point aside = (few ? 3.5 : 2.2) * normal(to - from);
    double bow = bow_of(topology, picture, link.tail, link.head);
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
    const Point at = picture.place(node);
    const std::string& name = topology.node_name(node);
    const double size = name.size() <= 3 ? 12 : name.size() <= 5 || !topology.is_host(node) ? 9 : 7;
    if (topology.is_host(node)) {
      svg.circle(at, k_radius, "#eaf2fb", {"#2b5c8a", 1.4, false});
    } else {
      const double half = std::max(k_radius + 2, 0.32 * size * static_cast<double>(name.size()) + 3);
      svg.rectangle(at - Point{half, k_radius - 3}, 2 * half, 2 * k_radius - 6, "#fdf0dc", {"#a5681c", 1.4, false});
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
  svg.text({24, 44},
           fmt::format("{} hosts, {} switches, {} links{}{}", topology.hosts(), topology.switches(),
                       topology.links().size(), picture.layout.remark.empty() ? "" : "; ", picture.layout.remark),
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
