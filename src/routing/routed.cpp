// Lowering of paths to messages, and back.
#include "colltopo/routed.h"

#include <cmath>
#include <map>

#include <fmt/format.h>

#include "colltopo/error.h"

namespace colltopo {

namespace {

/// Where the paths of each pair begin in a routing.
class PairIndex {
 public:
  explicit PairIndex(const Routing& routing)
      : hosts_(static_cast<std::size_t>(routing.hosts())), first_(hosts_ * hosts_ + 1, 0) {
    for (std::size_t i = 0; i < routing.paths(); ++i) {
      const WeightedPath path = routing.path(i);
      ++first_[pair(path.source, path.target) + 1];
    }
    for (std::size_t p = 0; p + 1 < first_.size(); ++p) first_[p + 1] += first_[p];
  }

  std::size_t first(NodeId source, NodeId target) const { return first_[pair(source, target)]; }
  std::size_t end(NodeId source, NodeId target) const { return first_[pair(source, target) + 1]; }

 private:
  std::size_t pair(NodeId source, NodeId target) const {
    return static_cast<std::size_t>(source) * hosts_ + static_cast<std::size_t>(target);
  }
  std::size_t hosts_;
  std::vector<std::uint32_t> first_;  // [pair], and the end
};

Chunk chunks_of(const Chunked& chunked, std::size_t path) {
  return static_cast<Chunk>(std::lround(chunked.routing.path(path).weight * chunked.chunks));
}

Program routed_program(const Shape& shape, Rank rank, const Chunked& chunked, const PairIndex& pairs) {
  const Chunk c = shape.chunks;
  ProgramBuilder program(shape, rank);
  program.step(0).copy({{Buffer::input, rank * c, c}}, {{Buffer::output, rank * c, c}});
  program.step(1);
  for (Rank distance = 1; distance < shape.ranks; ++distance) {
    const Rank source = (rank + shape.ranks - distance) % shape.ranks;
    const Rank target = (rank + distance) % shape.ranks;
    Lane lane = 0;
    Chunk first = target * c;
    for (std::size_t path = pairs.first(rank, target); path < pairs.end(rank, target); ++path) {
      const Chunk count = chunks_of(chunked, path);
      program.send({{Buffer::input, first, count}}, target, lane++);
      first += count;
    }
    lane = 0;
    first = source * c;
    for (std::size_t path = pairs.first(source, rank); path < pairs.end(source, rank); ++path) {
      const Chunk count = chunks_of(chunked, path);
      program.recv({{Buffer::output, first, count}}, source, lane++);
      first += count;
    }
  }
  return std::move(program).build();
}

std::vector<Route> routes_of(const Routing& routing, std::span<const std::int32_t> layers) {
  std::vector<Route> routes;
  routes.reserve(routing.paths());
  for (std::size_t i = 0; i < routing.paths(); ++i) {
    const WeightedPath path = routing.path(i);
    const bool same_pair =
        !routes.empty() && routes.back().source == path.source && routes.back().target == path.target;
    routes.push_back({path.source,
                      path.target,
                      same_pair ? routes.back().lane + 1 : 0,
                      layers.empty() ? 0 : layers[i],
                      {path.links.begin(), path.links.end()}});
  }
  return routes;
}

}  // namespace

Schedule routed_alltoall(std::string name, const Topology& topology, const Chunked& chunked,
                         std::span<const std::int32_t> layers) {
  if (chunked.routing.hosts() != topology.hosts())
    throw Error(fmt::format("{}: a routing of {} hosts; expected {}", topology.name(), chunked.routing.hosts(),
                            topology.hosts()));
  const Shape shape{Collective::alltoall, topology.hosts(), chunked.chunks, 0};
  const PairIndex pairs(chunked.routing);
  Schedule schedule =
      schedule_of(std::move(name), shape, [&](Rank rank) { return routed_program(shape, rank, chunked, pairs); });
  schedule.routes = routes_of(chunked.routing, layers);
  schedule.topology = fingerprint(topology);
  schedule.topology_name = topology.name();
  return schedule;
}

std::vector<std::int32_t> layers_of(const Topology& topology, const Routing& routing, LayerMethod method) {
  std::vector<std::span<const LinkId>> routes;
  routes.reserve(routing.paths());
  for (std::size_t i = 0; i < routing.paths(); ++i) routes.push_back(routing.path(i).links);
  return layers_of(topology, RouteLinks(routes), method);
}

Routing routing_of(const Schedule& schedule) {
  if (schedule.shape.collective != Collective::alltoall)
    throw Error(
        fmt::format("{}: {} has no routing; only alltoall has", schedule.name, name(schedule.shape.collective)));
  Routing routing(schedule.shape.ranks);
  auto route = schedule.routes.begin();
  for (const Program& program : schedule.programs) {
    std::map<std::pair<Rank, Lane>, Chunk> sent;
    for (std::size_t i = 0; i < program.size(); ++i)
      if (const Op op = program.op(i); op.action == Action::send) sent[{op.peer, op.lane}] += chunks_in(op.source);
    for (const auto& [end, chunks] : sent) {
      const auto [target, lane] = end;
      const auto is_before = [&](const Route& r) {
        return std::tuple(r.source, r.target, r.lane) < std::tuple(program.rank(), target, lane);
      };
      while (route != schedule.routes.end() && is_before(*route)) ++route;
      if (route == schedule.routes.end() || route->source != program.rank() || route->target != target ||
          route->lane != lane)
        throw Error(fmt::format("{}: no route from {} to {} on lane {}; expected one for every message", schedule.name,
                                program.rank(), target, lane));
      routing.add(program.rank(), target, double{1} * chunks / schedule.shape.chunks, route->links);
    }
  }
  return routing;
}

}  // namespace colltopo
