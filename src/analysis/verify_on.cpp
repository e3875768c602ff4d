// Whether a schedule fits a topology.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "analysis/route_checks.h"
#include "colltopo/cost.h"
#include "colltopo/layers.h"

namespace colltopo {

namespace analysis {

void check_route(const Route& route, const Topology& topology, Violations& violations) {
  const auto links = static_cast<LinkId>(topology.links().size());
  NodeId at = route.source;
  for (const LinkId id : route.links) {
    if (id < 0 || id >= links)
      return violations.add(route.source, "route to {} on lane {} takes link {}; the topology has links 0..{}",
                            route.target, route.lane, id, links - 1);
    if (topology.link(id).tail != at)
      return violations.add(route.source,
                            "route to {} on lane {} takes link {} ({}) from {}; links must follow each other",
                            route.target, route.lane, id, topology.link_name(id), topology.node_name(at));
    at = topology.link(id).head;
  }
  if (at != route.target)
    violations.add(route.source, "route to {} on lane {} ends at {}", route.target, route.lane, topology.node_name(at));
}

}  // namespace analysis

namespace {

using namespace analysis;

/// Where the routes of each source begin: they are sorted, so the rest is a search among those of one rank.
class RouteIndex {
 public:
  explicit RouteIndex(const Schedule& schedule) : routes_(schedule.routes) {
    first_.assign(static_cast<std::size_t>(schedule.shape.ranks) + 1, 0);
    for (const Route& route : routes_) ++first_[static_cast<std::size_t>(route.source) + 1];
    for (std::size_t rank = 1; rank < first_.size(); ++rank) first_[rank] += first_[rank - 1];
  }
  bool has(const Message& message) const {
    const auto begin = routes_.begin() + at(message.source), end = routes_.begin() + at(message.source + 1);
    const auto key = [](const auto& route) { return std::pair(route.target, route.lane); };
    const auto found = std::lower_bound(begin, end, message,
                                        [&](const Route& route, const Message& m) { return key(route) < key(m); });
    return found != end && key(*found) == key(message);
  }

 private:
  std::ptrdiff_t at(Rank rank) const { return static_cast<std::ptrdiff_t>(first_[static_cast<std::size_t>(rank)]); }
  const std::vector<Route>& routes_;
  std::vector<std::size_t> first_;  // [source], and the end
};

/// Routes are between ranks and sorted, so that they can be looked up.
void check_order(const Schedule& schedule, Violations& violations) {
  const auto is_rank = [&](Rank rank) { return rank >= 0 && rank < schedule.shape.ranks; };
  const Route* before = nullptr;
  for (const Route& route : schedule.routes) {
    const auto key = [](const Route& r) { return std::tuple(r.source, r.target, r.lane); };
    if (!is_rank(route.source) || !is_rank(route.target))
      violations.add(-1, "a route from {} to {}; ranks are 0..{}", route.source, route.target,
                     schedule.shape.ranks - 1);
    else if (before != nullptr && key(*before) >= key(route))
      violations.add(route.source,
                     "the route to {} on lane {} stands behind that of {} to {} on lane {}; expected "
                     "increasing order",
                     route.target, route.lane, before->source, before->target, before->lane);
    before = &route;
  }
}

void check_messages_have_routes(const Schedule& schedule, Violations& violations) {
  const RouteIndex routes(schedule);
  std::set<std::tuple<Rank, Rank, Lane>> missing;  // said once
  for (const Message& message : messages_of(schedule))
    if (!routes.has(message) && !violations.full() &&
        missing.insert({message.source, message.target, message.lane}).second)
      violations.add(message.source, "no route to {} on lane {}, which step {} uses", message.target, message.lane,
                     message.step);
}

void check_reachable(const Schedule& schedule, const Topology& topology, Violations& violations) {
  std::vector<std::vector<int>> distances(static_cast<std::size_t>(topology.hosts()));
  for (const Message& message : messages_of(schedule)) {
    std::vector<int>& from = distances[static_cast<std::size_t>(message.source)];
    if (from.empty()) from = distances_from(topology, message.source);
    if (from[static_cast<std::size_t>(message.target)] < 0)
      violations.add(message.source, "no path to {}, to which step {} sends", message.target, message.step);
    if (violations.full()) return;
  }
}

void check_layers(const Schedule& schedule, const Topology& topology, Violations& violations) {
  std::map<std::int32_t, std::vector<std::span<const LinkId>>> layers;
  for (const Route& route : schedule.routes) layers[route.layer].emplace_back(route.links);
  for (const auto& [layer, routes] : layers)
    if (const LinkId link = link_in_cycle(topology, routes); link >= 0)
      violations.add(
          -1, "layer {}: routes wait for each other in a cycle behind link {} ({}); a lossless network can deadlock",
          layer, link, topology.link_name(link));
}

}  // namespace

std::vector<Violation> verify_on(const Schedule& schedule, const Topology& topology, Fabric fabric) {
  Violations violations;
  if (schedule.shape.ranks != topology.hosts()) {
    violations.add(-1, "{} ranks; {} has {} hosts", schedule.shape.ranks, topology.name(), topology.hosts());
    return violations.take();
  }
  if (schedule.routes.empty()) {
    check_reachable(schedule, topology, violations);
    return violations.take();
  }
  if (!schedule.topology.empty() && schedule.topology != fingerprint(topology))
    violations.add(-1, "its routes are those of topology {}; {} is {}", schedule.topology, topology.name(),
                   fingerprint(topology));
  check_order(schedule, violations);
  if (!violations.empty()) return violations.take();
  for (const Route& route : schedule.routes) check_route(route, topology, violations);
  check_messages_have_routes(schedule, violations);
  // A route with unknown links has nothing to say about cycles.
  if (violations.empty() && fabric == Fabric::lossless) check_layers(schedule, topology, violations);
  return violations.take();
}

}  // namespace colltopo
