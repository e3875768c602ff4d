// Other lane numbers for a schedule: those of the planes that its routes fit into.
#include <algorithm>
#include <span>
#include <tuple>

#include "colltopo/forwarding.h"

namespace colltopo {

namespace {

class LaneNumbers {
 public:
  LaneNumbers(const std::vector<Route>& routes, const std::vector<std::int32_t>& planes, Rank ranks)
      : routes_(routes), planes_(planes), first_(static_cast<std::size_t>(ranks) + 1, 0) {
    for (const Route& route : routes) ++first_[static_cast<std::size_t>(route.source) + 1];
    for (std::size_t rank = 1; rank < first_.size(); ++rank) first_[rank] += first_[rank - 1];
  }

  /// A message without a route keeps its lane: verification will name it.
  Lane plane(Rank source, Rank target, Lane lane) const {
    const auto begin = routes_.begin() + static_cast<std::ptrdiff_t>(first_[static_cast<std::size_t>(source)]);
    const auto end = routes_.begin() + static_cast<std::ptrdiff_t>(first_[static_cast<std::size_t>(source) + 1]);
    const auto found = std::ranges::lower_bound(begin, end, std::pair(target, lane), {},
                                                [](const Route& route) { return std::pair(route.target, route.lane); });
    if (found == end || found->target != target || found->lane != lane) return lane;
    return planes_[static_cast<std::size_t>(found - routes_.begin())];
  }

 private:
  const std::vector<Route>& routes_;
  const std::vector<std::int32_t>& planes_;
  std::vector<std::size_t> first_;  // [source] into routes_, and the end
};

Runs copied(std::span<const Run> runs) { return Runs(runs.begin(), runs.end()); }

Program with_lanes(const Program& program, const LaneNumbers& lanes) {
  ProgramBuilder builder(program.shape(), program.rank());
  for (std::size_t i = 0; i < program.size(); ++i) {
    Op op = program.op(i);
    if (op.action == Action::send) op.lane = lanes.plane(program.rank(), op.peer, op.lane);
    if (op.action == Action::recv) op.lane = lanes.plane(op.peer, program.rank(), op.lane);
    builder.add(op, copied(op.source), copied(op.target));
  }
  return std::move(builder).build();
}

/// The schedule with the plane of each of its routes as its lane; routes of a pair that are then the same become one.
Schedule relabelled(Schedule schedule, const std::vector<std::int32_t>& planes) {
  const LaneNumbers lanes(schedule.routes, planes, schedule.shape.ranks);
  for (Program& program : schedule.programs) program = with_lanes(program, lanes);
  for (std::size_t i = 0; i < planes.size(); ++i) schedule.routes[i].lane = planes[i];
  const auto key = [](const Route& route) { return std::tuple(route.source, route.target, route.lane); };
  std::ranges::stable_sort(schedule.routes, {}, key);
  const auto same = [&](const Route& a, const Route& b) { return key(a) == key(b); };
  schedule.routes.erase(std::unique(schedule.routes.begin(), schedule.routes.end(), same), schedule.routes.end());
  return schedule;
}

/// By their links, which say where a route begins and ends.
bool links_before(std::span<const LinkId> a, std::span<const LinkId> b) {
  return std::ranges::lexicographical_compare(a, b);
}

}  // namespace

std::int32_t planes_in(const std::vector<Route>& routes) {
  std::int32_t planes = 0;
  for (const Route& route : routes) planes = std::max(planes, route.lane + 1);
  return planes;
}

Schedule with_planes_as_lanes(Schedule schedule, const Topology& topology) {
  std::vector<Schedule> one;
  one.push_back(std::move(schedule));
  return std::move(with_shared_planes(std::move(one), topology).front());
}

std::vector<Schedule> with_shared_planes(std::vector<Schedule> schedules, const Topology& topology) {
  // Distinct routes, those of the first schedule in their order, so that one schedule gets the planes it has alone.
  std::vector<std::span<const LinkId>> links;
  std::vector<std::vector<std::size_t>> places(schedules.size());  // [schedule][route] into links
  std::vector<std::size_t> sorted;                                 // places by links, of the schedules before
  for (std::size_t s = 0; s < schedules.size(); ++s) {
    const std::size_t before = links.size();
    for (const Route& route : schedules[s].routes) {
      const auto known = std::ranges::lower_bound(sorted, std::span<const LinkId>(route.links), links_before,
                                                  [&](std::size_t place) { return links[place]; });
      const bool is_known = known != sorted.end() && std::ranges::equal(links[*known], route.links);
      places[s].push_back(is_known ? *known : links.size());
      if (!is_known) links.emplace_back(route.links);
    }
    if (s + 1 == schedules.size()) break;
    for (std::size_t place = before; place < links.size(); ++place) sorted.push_back(place);
    std::ranges::stable_sort(sorted, links_before, [&](std::size_t place) { return links[place]; });
  }
  if (links.empty()) return schedules;
  const std::vector<std::int32_t> planes = planes_of(topology, RouteLinks(links));
  for (std::size_t s = 0; s < schedules.size(); ++s) {
    if (schedules[s].routes.empty()) continue;
    std::vector<std::int32_t> own;
    own.reserve(places[s].size());
    for (const std::size_t place : places[s]) own.push_back(planes[place]);
    schedules[s] = relabelled(std::move(schedules[s]), own);
  }
  return schedules;
}

Schedule routes_of_all(std::span<const Schedule> schedules) {
  Schedule all;
  for (const Schedule& schedule : schedules) {
    if (schedule.routes.empty()) continue;
    if (all.routes.empty()) all.shape = schedule.shape, all.topology = schedule.topology;
    all.topology_name = schedule.topology_name;
    all.name += (all.name.empty() ? "" : " ") + schedule.name;
    all.routes.insert(all.routes.end(), schedule.routes.begin(), schedule.routes.end());
  }
  const auto key = [](const Route& route) { return std::tie(route.source, route.target, route.lane, route.links); };
  std::ranges::sort(all.routes, [&](const Route& a, const Route& b) { return key(a) < key(b); });
  const auto same = [&](const Route& a, const Route& b) { return key(a) == key(b); };
  all.routes.erase(std::unique(all.routes.begin(), all.routes.end(), same), all.routes.end());
  return all;
}

}  // namespace colltopo
