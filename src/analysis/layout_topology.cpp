// The layouts that are ours: grids, circles, two columns, trees, layers and rings of routers.
#include "analysis/layout_topology.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numbers>
#include <numeric>
#include <set>

#include "base/index.h"

namespace colltopo::drawing {

namespace {

constexpr double k_ring_radius = 15;  // of a host
constexpr double k_spacing = 44;      // between hosts that stand side by side
constexpr double k_level = 110;       // between levels of switches, at least

Point on_circle(Point centre, double radius, double place, double places) {
  const double angle = 2 * std::numbers::pi * place / std::max(places, 1.0) - std::numbers::pi / 2;
  return {centre.x + radius * std::cos(angle), centre.y + radius * std::sin(angle)};
}

/// [node] its neighbours by links in either direction, once each and in order.
using Neighbours = std::vector<std::vector<NodeId>>;
Neighbours neighbours_of(const Topology& topology) {
  Neighbours neighbours(index(topology.nodes()));
  for (const Link& link : topology.links()) {
    neighbours[index(link.tail)].push_back(link.head);
    neighbours[index(link.head)].push_back(link.tail);
  }
  for (std::vector<NodeId>& list : neighbours) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  return neighbours;
}

std::size_t cables_in(const Neighbours& neighbours) {
  return std::accumulate(neighbours.begin(), neighbours.end(), std::size_t{0},
                         [](std::size_t sum, const auto& list) { return sum + list.size(); }) /
         2;
}

bool joined(const Neighbours& neighbours, NodeId a, NodeId b) {
  return std::binary_search(neighbours[index(a)].begin(), neighbours[index(a)].end(), b);
}

// Grids -------------------------------------------------------------------------------------------------------------

/// [dimension][coordinate] how much more room there is before it, where no cable crosses: between boards.
std::vector<std::vector<double>> gaps_of(const Topology& topology, const Neighbours& neighbours) {
  const std::vector<int>& sides = topology.arrangement();
  std::vector<std::vector<double>> gaps;
  gaps.reserve(sides.size());
  for (const int side : sides) gaps.emplace_back(static_cast<std::size_t>(side), topology.switches() > 0 ? 40.0 : 0.0);
  for (NodeId host = 0; host < topology.hosts(); ++host) {
    NodeId stride = topology.hosts();
    for (std::size_t dimension = 0; dimension < sides.size(); ++dimension) {
      stride /= sides[dimension];
      const int coordinate = host / stride % sides[dimension];
      if (coordinate > 0 && joined(neighbours, host, host - stride))
        gaps[dimension][static_cast<std::size_t>(coordinate)] = 0;
    }
  }
  for (std::vector<double>& gap : gaps) {
    if (!gap.empty()) gap.front() = 0;
    std::partial_sum(gap.begin(), gap.end(), gap.begin());
  }
  return gaps;
}

/// The last side runs right, the one before down, the one before that back into the picture; further sides are blocks
/// to the right and below in turn.
std::vector<Point> grid_places(const Topology& topology, const Neighbours& neighbours) {
  const std::vector<int>& sides = topology.arrangement();
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
  const std::vector<std::vector<double>> gaps = gaps_of(topology, neighbours);
  std::vector<Point> places;
  for (NodeId host = 0; host < topology.hosts(); ++host) {
    Point place{0, 0};
    NodeId stride = topology.hosts();
    for (std::size_t dimension = 0; dimension < dimensions; ++dimension) {
      stride /= sides[dimension];
      const int coordinate = host / stride % sides[dimension];
      const double gap = gaps[dimension][static_cast<std::size_t>(coordinate)];
      place = place + static_cast<double>(coordinate) * step[dimension] +
              gap / std::max(1.0, length(step[dimension])) * step[dimension];
    }
    places.push_back(place);
  }
  return places;
}

/// Switches of a grid's rows stand to its right and those of its columns below, each beside what hangs on it; switches
/// of switches further out.
void add_switches_of_grid(const Topology& topology, const Neighbours& neighbours, std::vector<Point>& places) {
  Point most = places.front();
  for (const Point& p : places) most = {std::max(most.x, p.x), std::max(most.y, p.y)};
  places.resize(index(topology.nodes()));
  std::map<std::pair<long, long>, int> taken;  // switches at the same point of the margin
  std::vector<bool> stands(index(topology.nodes()), false);
  std::vector<bool> of_row(index(topology.nodes()), false);
  std::fill_n(stands.begin(), topology.hosts(), true);
  for (int round = 0; round < 3; ++round) {
    std::vector<NodeId> standing;
    for (NodeId node = topology.hosts(); node < topology.nodes(); ++node) {
      if (stands[index(node)]) continue;
      Point least{1e300, 1e300}, largest{-1e300, -1e300}, sum{0, 0};
      double count = 0;
      bool row_above = false;
      for (const NodeId below : neighbours[index(node)]) {
        if (!stands[index(below)]) continue;
        const Point p = places[index(below)];
        least = {std::min(least.x, p.x), std::min(least.y, p.y)};
        largest = {std::max(largest.x, p.x), std::max(largest.y, p.y)};
        sum = sum + p;
        ++count;
        row_above = row_above || of_row[index(below)];
      }
      if (count == 0) continue;
      const Point middle = 1 / count * sum;
      const bool row = round == 0 ? largest.y - least.y <= largest.x - least.x : row_above;
      const bool tie = round == 0 && count == 1;
      of_row[index(node)] = tie ? node < topology.hosts() + topology.arrangement().front() : row;
      const double out = 90 + 70.0 * round;
      Point& place = places[index(node)];
      place = of_row[index(node)] ? Point{most.x + out, middle.y} : Point{middle.x, most.y + out};
      const int before = taken[{std::lround(place.x), std::lround(place.y)}]++;
      place = place + before * (of_row[index(node)] ? Point{0, 30} : Point{44, 0});
      standing.push_back(node);
    }
    for (const NodeId node : standing) stands[index(node)] = true;
  }
}

// Circles and columns -----------------------------------------------------------------------------------------------

std::vector<Point> circle_places(const Topology& topology) {
  const double radius = std::max(110.0, topology.hosts() * 2.6 * k_ring_radius / (2 * std::numbers::pi));
  std::vector<Point> places;
  places.reserve(index(topology.nodes()));
  for (NodeId host = 0; host < topology.hosts(); ++host)
    places.push_back(on_circle({0, 0}, radius, host, topology.hosts()));
  for (NodeId i = 0; i < topology.switches(); ++i)
    places.push_back(on_circle({0, 0}, topology.switches() == 1 ? 0 : radius / 2, i, topology.switches()));
  return places;
}

/// Whether every host of one part is joined to exactly those of the other; `second` says which part a host is of.
bool is_complete_bipartite(const Topology& topology, const Neighbours& neighbours, std::vector<bool>& second) {
  if (topology.switches() > 0 || topology.hosts() < 2) return false;
  second.assign(index(topology.hosts()), false);
  for (const NodeId host : neighbours[0]) second[index(host)] = true;
  for (NodeId a = 0; a < topology.hosts(); ++a) {
    const auto others = static_cast<std::size_t>(std::count(second.begin(), second.end(), !second[index(a)]));
    if (neighbours[index(a)].size() != others) return false;
    for (const NodeId b : neighbours[index(a)])
      if (second[index(a)] == second[index(b)]) return false;
  }
  return true;
}

std::vector<Point> column_places(const std::vector<bool>& second) {
  const auto right = static_cast<double>(std::count(second.begin(), second.end(), true));
  const double left = static_cast<double>(second.size()) - right;
  std::vector<Point> places;
  places.reserve(second.size());
  double next_left = -left / 2, next_right = -right / 2;
  for (const bool is_right : second)
    places.push_back(is_right ? Point{260, 60 * next_right++} : Point{0, 60 * next_left++});
  return places;
}

// Networks with switches --------------------------------------------------------------------------------------------

/// Every node's distance from the nearest of `starts`, by cables.
std::vector<int> levels_from(const Neighbours& neighbours, std::vector<NodeId> starts) {
  std::vector<int> levels(neighbours.size(), -1);
  for (const NodeId start : starts) levels[index(start)] = 0;
  for (std::size_t next = 0; next < starts.size(); ++next) {
    for (const NodeId other : neighbours[index(starts[next])]) {
      if (levels[index(other)] >= 0) continue;
      levels[index(other)] = levels[index(starts[next])] + 1;
      starts.push_back(other);
    }
  }
  return levels;
}

/// Of a tree: the root is the middle of its longest path, leaves side by side, every other node above its children.
std::vector<Point> tree_places(const Topology& topology, const Neighbours& neighbours) {
  const auto farthest_from = [&](NodeId start) {
    const std::vector<int> levels = levels_from(neighbours, {start});
    return static_cast<NodeId>(std::max_element(levels.begin(), levels.end()) - levels.begin());
  };
  const NodeId end = farthest_from(0), other_end = farthest_from(end);
  const std::vector<int> from_end = levels_from(neighbours, {end});
  NodeId root = other_end;
  while (from_end[index(root)] > (from_end[index(other_end)] + 1) / 2)
    for (const NodeId next : neighbours[index(root)])
      if (from_end[index(next)] < from_end[index(root)]) {
        root = next;
        break;
      }

  std::vector<Point> places(index(topology.nodes()));
  double next_leaf = 0;
  const std::function<void(NodeId, NodeId, int)> place = [&](NodeId node, NodeId parent, int level) {
    double sum = 0, children = 0;
    for (const NodeId child : neighbours[index(node)]) {
      if (child == parent) continue;
      place(child, node, level + 1);
      sum += places[index(child)].x;
      ++children;
    }
    if (children > 0) next_leaf += 0.35 * k_spacing;  // room between families
    if (children == 0) {
      sum = next_leaf;
      children = 1;
      next_leaf += k_spacing;
    }
    places[index(node)] = {sum / children, level * k_level};
  };
  place(root, -1, 0);
  return places;
}

/// Hosts below; switches above them by their distance from the hosts, above the middle of what they carry where there
/// is room. Switches of scattered hosts (rails of boxes) stand opposite those of neighbouring ones.
std::vector<Point> layered_places(const Topology& topology, const Neighbours& neighbours) {
  std::vector<NodeId> hosts(index(topology.hosts()));
  std::iota(hosts.begin(), hosts.end(), 0);
  std::vector<int> levels = levels_from(neighbours, hosts);
  std::vector<Point> places(index(topology.nodes()));
  double x = 0;
  for (const NodeId host : hosts) {
    const std::vector<NodeId>& list = neighbours[index(host)];
    const bool same_family = host > 0 && !list.empty() && joined(neighbours, host - 1, list.front());
    if (host > 0) x += same_family ? k_spacing : 1.6 * k_spacing;
    places[index(host)] = {x, 0};
  }
  const double width = x;

  std::map<int, std::vector<NodeId>> by_level;
  for (NodeId node = topology.hosts(); node < topology.nodes(); ++node) {
    double sum = 0, count = 0;
    NodeId first = topology.nodes(), last = 0;
    for (const NodeId below : neighbours[index(node)]) {
      if (levels[index(below)] != levels[index(node)] - 1) continue;
      sum += places[index(below)].x;
      ++count;
      first = std::min(first, below);
      last = std::max(last, below);
    }
    places[index(node)].x = count > 0 ? sum / count : width / 2;
    const bool scattered = topology.is_host(first) && last - first + 1 > static_cast<NodeId>(count);
    by_level[scattered ? -1 : levels[index(node)]].push_back(node);
  }
  for (auto& [level, nodes] : by_level) {
    double room = k_spacing;  // for the longest name
    for (const NodeId node : nodes)
      room = std::max(room, 14 + 6.0 * static_cast<double>(topology.node_name(node).size()));
    std::stable_sort(nodes.begin(), nodes.end(),
                     [&](NodeId a, NodeId b) { return places[index(a)].x < places[index(b)].x - 1e-6; });
    bool crowded = false;
    for (std::size_t i = 1; i < nodes.size(); ++i)
      crowded = crowded || places[index(nodes[i])].x - places[index(nodes[i - 1])].x < room;
    const double wide = std::max(width, room * static_cast<double>(nodes.size()));
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      Point& place = places[index(nodes[i])];
      if (crowded)
        place.x = width / 2 - wide / 2 + wide * (static_cast<double>(i) + 0.5) / static_cast<double>(nodes.size());
      place.y = -level * std::max(k_level, width / 16);  // flat angles cannot be told apart
    }
  }
  return places;
}

/// Every router has hosts, and routers are joined among themselves: routers on a circle with room between groups, each
/// with its hosts outside.
std::vector<Point> router_ring_places(const Topology& topology, const Neighbours& neighbours) {
  std::vector<double> turn(index(topology.nodes()), 0);
  double around = 0;
  for (NodeId router = topology.hosts(); router < topology.nodes(); ++router) {
    double hosts = 0;
    for (const NodeId other : neighbours[index(router)]) hosts += topology.is_host(other) ? 1 : 0;
    const double room = std::max(1.0, 0.8 * hosts);
    if (router > topology.hosts() && !joined(neighbours, router, router - 1)) around += 1.2;
    turn[index(router)] = around + room / 2;
    around += room;
  }
  around += 1.2;
  const double radius = std::max(120.0, around * k_spacing / (2 * std::numbers::pi));
  std::vector<Point> places(index(topology.nodes()));
  for (NodeId router = topology.hosts(); router < topology.nodes(); ++router) {
    places[index(router)] = on_circle({0, 0}, radius, turn[index(router)], around);
    std::vector<NodeId> hosts;
    for (const NodeId other : neighbours[index(router)])
      if (topology.is_host(other)) hosts.push_back(other);
    for (std::size_t i = 0; i < hosts.size(); ++i) {
      const double aside = 0.8 * (static_cast<double>(i) - (static_cast<double>(hosts.size()) - 1) / 2);
      places[index(hosts[i])] = on_circle({0, 0}, radius + 65, turn[index(router)] + aside, around);
    }
  }
  return places;
}

/// Hosts hang on switches alone, and every switch is connected to hosts.
bool is_switched(const Topology& topology, const Neighbours& neighbours) {
  if (topology.switches() == 0) return false;
  for (NodeId host = 0; host < topology.hosts(); ++host)
    for (const NodeId other : neighbours[index(host)])
      if (topology.is_host(other)) return false;
  return true;
}

std::vector<Point> switched_places(const Topology& topology, const Neighbours& neighbours) {
  if (topology.switches() == 1) return circle_places(topology);
  std::vector<NodeId> hosts(index(topology.hosts()));
  std::iota(hosts.begin(), hosts.end(), 0);
  const std::vector<int> levels = levels_from(neighbours, hosts);
  const bool connected = std::count(levels.begin(), levels.end(), -1) == 0;
  if (connected && cables_in(neighbours) + 1 == index(topology.nodes())) return tree_places(topology, neighbours);
  bool one_level = true, joined_switches = false, one_switch_each = true;
  for (NodeId node = topology.hosts(); node < topology.nodes(); ++node) {
    one_level = one_level && levels[index(node)] == 1;
    for (const NodeId other : neighbours[index(node)]) joined_switches = joined_switches || !topology.is_host(other);
  }
  for (const NodeId host : hosts) one_switch_each = one_switch_each && neighbours[index(host)].size() == 1;
  if (one_level && joined_switches && one_switch_each) return router_ring_places(topology, neighbours);
  return layered_places(topology, neighbours);
}

// Hosts with switches of their own ----------------------------------------------------------------------------------

/// [switch] the only host that it is joined to; empty when one has none or several, or when it is simply the switch of
/// a network of routers with one host each.
std::vector<NodeId> owners_of(const Topology& topology, const Neighbours& neighbours) {
  std::vector<NodeId> owners;
  for (NodeId node = topology.hosts(); node < topology.nodes(); ++node) {
    const auto is_host = [&](NodeId other) { return topology.is_host(other); };
    const std::vector<NodeId>& list = neighbours[index(node)];
    if (std::count_if(list.begin(), list.end(), is_host) != 1) return {};
    owners.push_back(*std::find_if(list.begin(), list.end(), is_host));
  }
  const bool several = topology.switches() > topology.hosts();
  return several || !topology.arrangement().empty() ? owners : std::vector<NodeId>{};
}

/// Hosts as they would stand without their switches, with room for these below them.
Layout with_owned_switches(const Topology& topology, const std::vector<NodeId>& owners) {
  const auto owner = [&](NodeId node) {
    return topology.is_host(node) ? node : owners[index(node - topology.hosts())];
  };
  TopologyBuilder builder(topology.name(), topology.hosts());
  if (!topology.arrangement().empty()) builder.arrange(topology.arrangement());
  for (const Link& link : topology.links())
    if (owner(link.tail) != owner(link.head)) builder.link(owner(link.tail), owner(link.head));
  Layout layout = layout_of(std::move(builder).build());
  layout.is_grid = false;
  for (Point& place : layout.places) place = 1.9 * place;
  std::vector<int> owned(index(topology.hosts()), 0);
  for (const NodeId host : owners) {
    const int place = owned[index(host)]++, line = place / 2;
    layout.places.push_back(layout.places[index(host)] + Point{place % 2 == 0 ? 34.0 : -34.0, 42.0 + 30.0 * line});
  }
  return layout;
}

}  // namespace

Layout layout_of(const Topology& topology) {
  const Neighbours neighbours = neighbours_of(topology);
  if (const std::vector<NodeId> owners = owners_of(topology, neighbours); !owners.empty())
    return with_owned_switches(topology, owners);
  Layout layout;
  const bool is_ring = topology.sides().size() == 1 && topology.wraps();
  if (!topology.arrangement().empty() && !is_ring) {
    layout.is_grid = true;
    layout.places = grid_places(topology, neighbours);
    if (topology.switches() > 0) add_switches_of_grid(topology, neighbours, layout.places);
    return layout;
  }
  std::vector<bool> second;
  const bool complete = cables_in(neighbours) * 2 == index(topology.hosts()) * (index(topology.hosts()) - 1);
  if (is_ring || topology.links().empty() || (complete && topology.switches() == 0))
    layout.places = circle_places(topology);
  else if (is_complete_bipartite(topology, neighbours, second))
    layout.places = column_places(second);
  else if (is_switched(topology, neighbours))
    layout.places = switched_places(topology, neighbours);
  else if (!place_by_graphviz(topology, layout.places)) {
    layout.places = circle_places(topology);
    layout.remark = "on a circle, for Graphviz (neato, sfdp) is not installed";
  }
  return layout;
}

}  // namespace colltopo::drawing
