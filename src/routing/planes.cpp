// Colouring of the routes to each host: routes that leave a node by different links need different planes.
#include "colltopo/planes.h"
#include "base/index.h"

#include <algorithm>
#include <numeric>

#include "base/parallel.h"
#include "base/random.h"

namespace colltopo {

namespace {

constexpr int k_most_plane_refills = 12;
constexpr std::size_t k_hosts_at_once = 32;  // whose planes several threads find

using RouteId = std::uint32_t;

/// [host] the routes to it.
std::vector<std::vector<RouteId>> by_target(const Topology& topology, RouteLinks routes) {
  std::vector<std::vector<RouteId>> to(index(topology.nodes()));
  for (RouteId route = 0; route < routes.size(); ++route)
    if (!routes[route].empty()) to[index(topology.link(routes[route].back()).head)].push_back(route);
  return to;
}

/// The most links by which these routes, all to one host, leave one node.
std::int32_t most_ways_out(const Topology& topology, RouteLinks routes, const std::vector<RouteId>& members) {
  std::vector<bool> used(topology.links().size(), false);
  std::vector<std::int32_t> ways(index(topology.nodes()), 0);
  std::int32_t most = 0;
  for (const RouteId route : members)
    for (const LinkId link : routes[route]) {
      if (used[index(link)]) continue;
      used[index(link)] = true;
      most = std::max(most, ++ways[index(topology.link(link).tail)]);
    }
  return most;
}

/// `to`: as by_target says.
std::int32_t least_planes(const Topology& topology, RouteLinks routes, const std::vector<std::vector<RouteId>>& to,
                          int threads) {
  std::vector<std::int32_t> ways(to.size(), 0);
  for_each_index(to.size(), threads,
                 [&](std::size_t host, unsigned) { ways[host] = most_ways_out(topology, routes, to[host]); });
  return *std::ranges::max_element(ways);
}

/// The planes of the routes to one host.
class PlanesToHost {
 public:
  PlanesToHost(const Topology& topology, RouteLinks routes) : topology_(topology), routes_(routes) {}

  /// Each route, in this order, into the plane that fits and knows most of its links already. How many planes.
  std::int32_t fill(const std::vector<RouteId>& order, std::vector<std::int32_t>& plane_of) {
    planes_ = 0;
    for (const RouteId route : order) plane_of[route] = place(routes_[route]);
    return planes_;
  }

 private:
  std::int32_t place(std::span<const LinkId> route) {
    std::int32_t best = planes_, most_known = -1;
    for (std::int32_t plane = 0; plane < planes_; ++plane)
      if (const std::int32_t known = known_links(plane, route); known > most_known) {
        best = plane;
        most_known = known;
      }
    if (best == planes_) open_plane();
    for (const LinkId link : route) next(best, topology_.link(link).tail) = link;
    return best;
  }

  /// -1: the plane leaves a node of the route by another link.
  std::int32_t known_links(std::int32_t plane, std::span<const LinkId> route) {
    std::int32_t known = 0;
    for (const LinkId link : route) {
      const LinkId there = next(plane, topology_.link(link).tail);
      if (there >= 0 && there != link) return -1;
      known += there == link;
    }
    return known;
  }

  void open_plane() {
    const std::size_t nodes = index(topology_.nodes());
    next_.resize(std::max(next_.size(), nodes * (index(planes_) + 1)));
    const auto first = next_.begin() + static_cast<std::ptrdiff_t>(nodes * index(planes_));
    std::fill(first, first + static_cast<std::ptrdiff_t>(nodes), -1);
    ++planes_;
  }

  LinkId& next(std::int32_t plane, NodeId node) { return next_[index(plane) * index(topology_.nodes()) + index(node)]; }

  const Topology& topology_;
  RouteLinks routes_;
  std::int32_t planes_ = 0;
  std::vector<LinkId> next_;  // [plane][node]
};

/// Plane 0 becomes that with the most routes, and so on.
void number_by_use(const std::vector<RouteId>& members, std::int32_t planes, std::vector<std::int32_t>& plane_of) {
  std::vector<std::size_t> uses(index(planes), 0);
  for (const RouteId route : members) ++uses[index(plane_of[route])];
  std::vector<std::int32_t> order(index(planes)), number(index(planes));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int32_t a, std::int32_t b) { return uses[index(a)] > uses[index(b)]; });
  for (std::int32_t i = 0; i < planes; ++i) number[index(order[index(i)])] = i;
  for (const RouteId route : members) plane_of[route] = number[index(plane_of[route])];
}

/// The next order to try: the routes of a plane stay together, so that they need no more planes than before (iterated
/// greedy colouring, Culberson 1992); planes come the last first, or by lot.
void reorder(std::vector<RouteId>& order, const std::vector<std::int32_t>& plane_of, std::int32_t planes, int pass,
             Lots& lots) {
  std::vector<std::int32_t> turn(index(planes));
  for (std::int32_t plane = 0; plane < planes; ++plane) turn[index(plane)] = planes - 1 - plane;
  if (pass % 2 == 1) lots.shuffle(turn);
  std::stable_sort(order.begin(), order.end(),
                   [&](RouteId a, RouteId b) { return turn[index(plane_of[a])] < turn[index(plane_of[b])]; });
}

}  // namespace

namespace {

/// How many planes the routes to one host get; at most `allowed` if some passes find such.
std::int32_t find_planes(const std::vector<RouteId>& members, RouteLinks routes, std::int32_t allowed,
                         PlanesToHost& planes_to_host, std::vector<std::int32_t>& plane_of) {
  std::vector<RouteId> order = members;
  // Long routes agree with few others: they are placed while planes are empty.
  std::stable_sort(order.begin(), order.end(),
                   [&](RouteId a, RouteId b) { return routes[a].size() > routes[b].size(); });
  std::int32_t planes = planes_to_host.fill(order, plane_of);
  Lots lots(1);
  for (int pass = 0; planes > allowed && pass < k_most_plane_refills; ++pass) {
    reorder(order, plane_of, planes, pass, lots);
    planes = planes_to_host.fill(order, plane_of);
  }
  number_by_use(members, planes, plane_of);
  return planes;
}

}  // namespace

std::vector<std::int32_t> planes_of(const Topology& topology, RouteLinks routes, int threads) {
  std::vector<std::int32_t> plane_of(routes.size(), 0);
  const std::vector<std::vector<RouteId>> members = by_target(topology, routes);
  std::vector<PlanesToHost> scratch(worker_count(threads, members.size()), PlanesToHost(topology, routes));
  // The busiest host's need sets what all others may have.
  std::int32_t allowed = least_planes(topology, routes, members, threads);
  // What some hosts have needed, those that come later may have too.
  for (std::size_t first = 0; first < members.size(); first += k_hosts_at_once) {
    std::vector<std::int32_t> planes(std::min(k_hosts_at_once, members.size() - first));
    for_each_index(planes.size(), static_cast<int>(scratch.size()), [&](std::size_t host, unsigned worker) {
      planes[host] = find_planes(members[first + host], routes, allowed, scratch[worker], plane_of);
    });
    allowed = std::max(allowed, *std::max_element(planes.begin(), planes.end()));
  }
  return plane_of;
}

std::int32_t least_planes(const Topology& topology, RouteLinks routes) {
  return least_planes(topology, routes, by_target(topology, routes), 1);
}

}  // namespace colltopo
