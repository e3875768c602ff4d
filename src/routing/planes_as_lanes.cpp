// Other lane numbers for a schedule: those of the planes that its routes fit into.
#include <algorithm>
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

}  // namespace

std::int32_t planes_in(const std::vector<Route>& routes) {
  std::int32_t planes = 0;
  for (const Route& route : routes) planes = std::max(planes, route.lane + 1);
  return planes;
}

Schedule with_planes_as_lanes(Schedule schedule, const Topology& topology) {
  if (schedule.routes.empty()) return schedule;
  std::vector<std::span<const LinkId>> links;
  links.reserve(schedule.routes.size());
  for (const Route& route : schedule.routes) links.emplace_back(route.links);
  const std::vector<std::int32_t> planes = planes_of(topology, RouteLinks(links));
  const LaneNumbers lanes(schedule.routes, planes, schedule.shape.ranks);
  for (Program& program : schedule.programs) program = with_lanes(program, lanes);

  for (std::size_t i = 0; i < planes.size(); ++i) schedule.routes[i].lane = planes[i];
  const auto key = [](const Route& route) { return std::tuple(route.source, route.target, route.lane); };
  std::ranges::stable_sort(schedule.routes, {}, key);
  const auto same = [&](const Route& a, const Route& b) { return key(a) == key(b); };
  schedule.routes.erase(std::unique(schedule.routes.begin(), schedule.routes.end(), same), schedule.routes.end());
  return schedule;
}

}  // namespace colltopo
