// Topologies as pictures: nodes, and cables or loads between them.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "analysis/labels.h"
#include "analysis/picture.h"
#include "colltopo/draw.h"
#include "colltopo/error.h"

namespace colltopo {

using namespace drawing;

namespace {

/// All links from one node to another.
struct Bundle {
  int links = 0;
  double bandwidth = 0;
};

// Wider where there is more bandwidth.
void draw_cables(Svg& svg, const Topology& topology, const Picture& picture) {
  std::map<std::pair<NodeId, NodeId>, Bundle> bundles;
  for (const Link& link : topology.links()) {
    Bundle& bundle = bundles[{link.tail, link.head}];
    ++bundle.links;
    bundle.bandwidth += link.bandwidth;
  }
  for (const auto& [ends, bundle] : bundles) {
    const auto [tail, head] = ends;
    const auto back = bundles.find({head, tail});
    const int backwards = back == bundles.end() ? 0 : back->second.links;
    if (backwards > 0 && tail > head) continue;  // both directions of a cable are one line
    const Point from = picture.place(tail), to = picture.place(head);
    const double bow = bow_of(topology, picture, tail, head);
    const double width = bundle.bandwidth / topology.slowest_bandwidth();
    const Stroke stroke{bow == 0 ? "#667788" : "#a9b4c0", std::min(1.4 * std::sqrt(width), 6.0)};
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

void check_links(const Topology& topology, std::size_t marks) {
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

std::string bar_of(double share) {
  return std::string(static_cast<std::size_t>(std::lround(40 * std::min(share, 1.0))), '#');
}

std::string load_bars(const Topology& topology, const std::vector<double>& loads, const LoadScale& scale) {
  const std::vector<double> shares = shares_of(topology, loads, scale.darkest);
  std::string text = fmt::format("load ({}) of every link; the bar is load per bandwidth\n", scale.unit);
  for (std::size_t i = 0; i < loads.size(); ++i)
    text += fmt::format("{:>16} {:>9.4g} {}\n", topology.link_name(static_cast<LinkId>(i)), loads[i] / scale.unit_size,
                        bar_of(shares[i]));
  return text;
}

/// Of more links than anybody reads.
std::string load_quantiles(const Topology& topology, const std::vector<double>& loads, const LoadScale& scale) {
  std::vector<double> shares = shares_of(topology, loads, scale.darkest);
  std::sort(shares.begin(), shares.end(), std::greater<>());
  std::string text = legend_text(topology, loads, scale) + "\nlinks, busiest first; the bar is load per bandwidth\n";
  for (const std::size_t percent : std::to_array<std::size_t>({0, 1, 5, 10, 25, 50, 75, 90, 100})) {
    const double share = shares[std::min(shares.size() - 1, shares.size() * percent / 100)];
    text += fmt::format("{:>4}% {:>6.1f}% {}\n", percent, 100 * share, bar_of(share));
  }
  return text;
}

}  // namespace

std::string topology_svg(const Topology& topology, const std::vector<double>& loads, const std::string& title,
                         const LoadScale& scale) {
  const std::string heading = title.empty() ? topology.name() : title;
  if (!loads.empty() && loads.size() > k_most_marks) return load_profile_svg(topology, loads, heading, scale);
  check_links(topology, topology.links().size());
  const Picture picture = placed(topology, text_width(heading, 16),
                                 loads.empty() ? 0 : 172 + text_width(legend_text(topology, loads, scale), 11));
  Svg svg(picture.width, picture.height);
  svg.text({24, 24}, heading, {.size = 15, .anchor = Anchor::start, .bold = true});
  svg.text({24, 44},
           fmt::format("{} hosts, {} switches, {} links{}{}", topology.hosts(), topology.switches(),
                       topology.links().size(), picture.layout.remark.empty() ? "" : "; ", picture.layout.remark),
           {.size = 11, .colour = "#556677", .anchor = Anchor::start});
  if (loads.empty())
    draw_cables(svg, topology, picture);
  else
    draw_loads(svg, topology, picture, loads, scale);
  draw_nodes(svg, topology, picture);
  return std::move(svg).finish();
}

std::string topology_text(const Topology& topology, const std::vector<double>& loads, const LoadScale& scale) {
  std::string text = fmt::format("{}: {} hosts, {} switches, {} links\n\n", topology.name(), topology.hosts(),
                                 topology.switches(), topology.links().size());
  if (loads.empty()) {
    check_links(topology, static_cast<std::size_t>(topology.nodes()));
    return text +
           (topology.sides().size() == 1 || topology.sides().size() == 2 ? text_grid(topology) : adjacency(topology));
  }
  return text +
         (loads.size() > k_most_marks ? load_quantiles(topology, loads, scale) : load_bars(topology, loads, scale));
}

}  // namespace colltopo
