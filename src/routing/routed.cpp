// Lowering of paths to messages, and back.
#include "colltopo/routed.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "colltopo/error.h"
#include "colltopo/planes.h"
#include "colltopo/route_shares.h"
#include "routing/routed_program.h"

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

/// A path of a pair as a message.
struct LanePath {
  Lane lane = 0;
  Chunk chunks = 0;      // 0: it has a route, and nothing to send
  std::size_t path = 0;  // of a routing
};

/// Everything that sections are made of.
class RoutedPaths {
 public:
  RoutedPaths(const Topology& topology, Chunked chunked, LayerMethod method, int threads)
      : shape_{Collective::alltoall, topology.hosts(), chunked.chunks, 0},
        chunked_(std::move(chunked)),
        pairs_(chunked_.routing) {
    std::vector<std::span<const LinkId>> links;
    links.reserve(chunked_.routing.paths());
    for (std::size_t i = 0; i < chunked_.routing.paths(); ++i) links.push_back(chunked_.routing.path(i).links);
    planes_ = planes_of(topology, RouteLinks(links), threads);
    layers_ = layers_of(topology, RouteLinks(links), method, threads);
  }

  const Shape& shape() const { return shape_; }

  Program program(Rank rank) const {
    std::vector<LanePath> paths;  // of the pair at hand
    return routed_program(shape_, rank, [&](Rank source, Rank target) -> const std::vector<LanePath>& {
      find_paths(source, target, paths);
      return paths;
    });
  }

  std::vector<Route> routes(Rank source) const {
    std::vector<Route> routes;
    std::vector<LanePath> paths;
    for (Rank target = 0; target < shape_.ranks; ++target) {
      find_paths(source, target, paths);
      for (const LanePath& path : paths) {
        const auto links = chunked_.routing.path(path.path).links;
        routes.push_back({source, target, path.lane, layers_[path.path], {links.begin(), links.end()}});
      }
    }
    return routes;
  }

 private:
  /// By lane. Two of one plane lead the same way, node by node.
  void find_paths(Rank source, Rank target, std::vector<LanePath>& paths) const {
    paths.clear();
    for (std::size_t path = pairs_.first(source, target); path < pairs_.end(source, target); ++path)
      paths.push_back({planes_[path], chunks_of(chunked_, path), path});
    if (paths.size() < 2) return;
    std::ranges::stable_sort(paths, {}, &LanePath::lane);
    std::size_t kept = 0;
    for (const LanePath& path : paths)
      if (kept > 0 && paths[kept - 1].lane == path.lane)
        paths[kept - 1].chunks += path.chunks;
      else
        paths[kept++] = path;
    paths.resize(kept);
  }

  Shape shape_;
  Chunked chunked_;
  PairIndex pairs_;
  std::vector<std::int32_t> planes_, layers_;  // [path]
};

void require_hosts(const Topology& topology, const Chunked& chunked) {
  if (chunked.routing.hosts() == topology.hosts()) return;
  throw Error(fmt::format("{}: a routing of {} hosts; expected {}", topology.name(), chunked.routing.hosts(),
                          topology.hosts()));
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
  require_hosts(topology, chunked);
  const Shape shape{Collective::alltoall, topology.hosts(), chunked.chunks, 0};
  const PairIndex pairs(chunked.routing);
  std::vector<LanePath> paths;
  const auto paths_of = [&](Rank source, Rank target) -> const std::vector<LanePath>& {
    paths.clear();
    for (std::size_t path = pairs.first(source, target); path < pairs.end(source, target); ++path)
      paths.push_back({static_cast<Lane>(paths.size()), chunks_of(chunked, path), path});
    return paths;
  };
  Schedule schedule =
      schedule_of(std::move(name), shape, [&](Rank rank) { return routed_program(shape, rank, paths_of); });
  schedule.routes = routes_of(chunked.routing, layers);
  schedule.topology = fingerprint(topology);
  schedule.topology_name = topology.name();
  return schedule;
}

SectionedSchedule routed_sections(std::string name, const Topology& topology, Chunked chunked, LayerMethod layers,
                                  int threads) {
  require_hosts(topology, chunked);
  const auto paths = std::make_shared<const RoutedPaths>(topology, std::move(chunked), layers, threads);
  SectionedSchedule sections;
  sections.facts.name = std::move(name);
  sections.facts.shape = paths->shape();
  sections.facts.topology = fingerprint(topology);
  sections.facts.topology_name = topology.name();
  sections.steps = topology.hosts() > 1 ? 1 : 0;
  sections.has_routes = topology.hosts() > 1;
  sections.threads = threads;
  sections.program = [paths](Rank rank) { return paths->program(rank); };
  sections.routes = [paths](Rank source) { return paths->routes(source); };
  return sections;
}

std::vector<std::int32_t> layers_of(const Topology& topology, const Routing& routing, LayerMethod method) {
  std::vector<std::span<const LinkId>> routes;
  routes.reserve(routing.paths());
  for (std::size_t i = 0; i < routing.paths(); ++i) routes.push_back(routing.path(i).links);
  return layers_of(topology, RouteLinks(routes), method);
}

Routing routing_of(const Schedule& schedule) {
  const Routing all = all_routes(schedule);
  Routing routing(all.hosts());
  for (std::size_t i = 0; i < all.paths(); ++i)
    if (const WeightedPath path = all.path(i); path.weight > 0)
      routing.add(path.source, path.target, path.weight, path.links);
  return routing;
}

}  // namespace colltopo
