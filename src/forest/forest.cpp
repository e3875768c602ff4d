// From a number of trees to trees with routes: capacities, switches taken out, trees packed and put back on links.
#include "colltopo/forest.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "colltopo/error.h"
#include "colltopo/placement.h"
#include "forest/directions.h"
#include "forest/edge_splitting.h"
#include "forest/fixed_trees.h"
#include "forest/tree_packing.h"

namespace colltopo {

namespace {

constexpr std::int64_t k_few_trees = 9;

/// Hands out the routes of an edge from the first on.
class RouteSupply {
 public:
  explicit RouteSupply(const std::vector<LogicalEdge>& edges) : edges_(edges), next_(edges.size()) {
    std::int32_t routes = 0;
    for (const LogicalEdge& edge : edges) {
      first_route_.push_back(routes);
      routes += static_cast<std::int32_t>(edge.routes.size());
    }
  }

  void take(std::size_t edge, Chunk chunks, std::vector<TreePart>& parts) {
    while (chunks > 0) {
      auto& [route, used] = next_[edge];
      const Capacity amount = edges_[edge].routes[route].amount;
      const auto taken = static_cast<Chunk>(std::min<Capacity>(amount - used, chunks));
      parts.push_back({first_route_[edge] + static_cast<std::int32_t>(route), taken});
      chunks -= taken;
      used += taken;
      if (used == amount) ++route, used = 0;
    }
  }

 private:
  struct Next {
    std::size_t route = 0;
    Capacity used = 0;
  };
  const std::vector<LogicalEdge>& edges_;
  std::vector<std::int32_t> first_route_;
  std::vector<Next> next_;
};

std::vector<Route> routes_of(const std::vector<LogicalEdge>& edges) {
  std::vector<Route> routes;
  for (const LogicalEdge& edge : edges)
    for (std::size_t lane = 0; lane < edge.routes.size(); ++lane)
      routes.push_back({edge.tail, edge.head, static_cast<Lane>(lane), 0, edge.routes[lane].links});
  return routes;
}

/// Routes that no tree takes are left out, and lanes counted again.
void drop_idle_routes(Packing& packing) {
  std::vector<bool> used(packing.routes.size(), false);
  for (const TreePart& part : packing.parts) used[static_cast<std::size_t>(part.route)] = true;
  std::vector<std::int32_t> renumbered(packing.routes.size(), -1);
  std::vector<Route> kept;
  for (std::size_t i = 0; i < packing.routes.size(); ++i) {
    if (!used[i]) continue;
    Route& route = packing.routes[i];
    const bool same_pair = !kept.empty() && kept.back().source == route.source && kept.back().target == route.target;
    route.lane = same_pair ? kept.back().lane + 1 : 0;
    renumbered[i] = static_cast<std::int32_t>(kept.size());
    kept.push_back(std::move(route));
  }
  packing.routes = std::move(kept);
  for (TreePart& part : packing.parts) part.route = renumbered[static_cast<std::size_t>(part.route)];
}

Packing pack(const Topology& topology, const FixedForest& wanted, int threads) {
  const Bandwidths bandwidths = whole_bandwidths(topology);
  const std::vector<LogicalEdge> edges = without_switches(
      topology, trees_per_link(topology, bandwidths, wanted.capacity_per_unit, wanted.trees), wanted.trees, threads);
  std::vector<CapacityEdge> capacities;
  capacities.reserve(edges.size());
  for (const LogicalEdge& edge : edges) capacities.push_back({edge.tail, edge.head, edge.capacity()});
  const std::vector<PackedTree> packed = pack_trees(topology.hosts(), capacities, wanted.trees, threads);
  if (const std::string fault = packing_fault(topology.hosts(), capacities, wanted.trees, packed); !fault.empty())
    throw Error(fmt::format("{}: the packing is wrong: {}", topology.name(), fault));

  Packing packing;
  packing.routes = routes_of(edges);
  RouteSupply supply(edges);
  std::vector<std::int32_t> depth(static_cast<std::size_t>(topology.hosts()));
  for (const PackedTree& tree : packed) {
    Tree made{tree.root, static_cast<Chunk>(tree.weight), {}};
    made.edges.reserve(tree.edges.size());
    depth[static_cast<std::size_t>(tree.root)] = 0;
    for (const std::uint32_t edge : tree.edges) {
      const auto first = static_cast<std::uint32_t>(packing.parts.size());
      supply.take(edge, made.chunks, packing.parts);
      const NodeId tail = capacities[edge].tail, head = capacities[edge].head;
      depth[static_cast<std::size_t>(head)] = depth[static_cast<std::size_t>(tail)] + 1;
      made.edges.push_back({tail, head, depth[static_cast<std::size_t>(head)], first,
                            static_cast<std::uint32_t>(packing.parts.size()) - first});
    }
    packing.trees.push_back(std::move(made));
  }
  drop_idle_routes(packing);
  return packing;
}

FixedForest best_of_few(const Topology& topology, int threads) {
  FixedForest best = fixed_forest(topology, 1, threads);
  for (std::int64_t trees = 2; trees <= k_few_trees; ++trees) {
    const FixedForest next = fixed_forest(topology, trees, threads);
    if (next.seconds_per_byte() < best.seconds_per_byte() * (1 - 1e-12)) best = next;
  }
  return best;
}

FixedForest wanted_forest(const Topology& topology, const ForestOptions& options) {
  if (options.trees != 0) return fixed_forest(topology, options.trees, options.threads);
  if (options.few) return best_of_few(topology, options.threads);
  const ForestOptimum optimum = forest_optimum(topology, options.threads);
  if (optimum.trees > k_most_trees_default) return best_of_few(topology, options.threads);
  return {optimum.hosts, optimum.unit, optimum.trees, optimum.capacity_per_unit};
}

}  // namespace

std::int32_t Packing::height() const {
  std::int32_t height = 0;
  for (const Tree& tree : trees)
    for (const TreeEdge& edge : tree.edges) height = std::max(height, edge.depth);
  return height;
}

Forest pack_forest(const Topology& topology, const ForestOptions& options) {
  Forest forest;
  forest.achieved = wanted_forest(topology, options);
  const std::int64_t all = forest.achieved.trees * topology.hosts();
  if (forest.achieved.trees > std::numeric_limits<Chunk>::max() / 4 / topology.hosts())
    throw Error(fmt::format("{}: {} trees; a schedule has at most {} chunks in all, so take fewer trees",
                            topology.name(), all, std::numeric_limits<Chunk>::max() / 4));
  forest.out = pack(topology, forest.achieved, options.threads);
  forest.reductions = forest.achieved;
  if (!twins(topology).empty()) return forest;
  const Topology turned = transposed(topology);
  forest.reductions = fixed_forest(turned, forest.achieved.trees, options.threads);
  forest.in = pack(turned, forest.reductions, options.threads);
  turn_routes(forest.in);
  return forest;
}

Topology group_topology(const Topology& machine, const std::vector<bool>& takes_part, Others others) {
  if (takes_part.size() != static_cast<std::size_t>(machine.hosts()))
    throw Error(fmt::format("{}: a group of {} hosts; it has {}", machine.name(), takes_part.size(), machine.hosts()));
  if (others == Others::relay) return with_ranks(machine, std::vector<int>(takes_part.begin(), takes_part.end()));
  std::vector<std::string> gone;
  for (NodeId host = 0; host < machine.hosts(); ++host)
    if (!takes_part[static_cast<std::size_t>(host)]) gone.push_back(machine.node_name(host));
  return gone.empty() ? machine : without_hosts(machine, gone);
}

}  // namespace colltopo
