// From a number of trees to trees with routes: capacities, switches taken out, trees packed and put back on links.
#include "colltopo/forest.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "colltopo/error.h"
#include "colltopo/placement.h"
#include "forest/parts.h"
#include "forest/tree_packing.h"

namespace colltopo {

namespace {

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

/// How many trees per root, and how fast they are.
class Numbers {
 public:
  Numbers(const Topology& topology, std::optional<NodeId> root, int threads)
      : topology_(topology), root_(root), threads_(threads) {}

  FixedForest fixed(std::int64_t trees) const {
    return root_ ? fixed_bcast(topology_, *root_, trees, threads_) : fixed_forest(topology_, trees, threads_);
  }
  ForestOptimum optimum() const {
    return root_ ? bcast_optimum(topology_, *root_, threads_) : forest_optimum(topology_, threads_);
  }

  std::vector<Capacity> roots(std::int64_t trees) const {
    std::vector<Capacity> roots(static_cast<std::size_t>(topology_.hosts()), root_ ? 0 : trees);
    if (root_) roots[static_cast<std::size_t>(*root_)] = trees;
    return roots;
  }

  Packing pack(const FixedForest& wanted) const {
    const Bandwidths bandwidths = whole_bandwidths(topology_);
    const std::vector<Capacity> trees = roots(wanted.trees);
    const std::vector<Capacity> of_link =
        trees_per_link(topology_.name(), bandwidths, wanted.capacity_per_unit, wanted.trees * wanted.roots);
    return packed_into(topology_, without_switches(topology_, of_link, trees, threads_), trees);
  }

  const Topology& topology() const { return topology_; }

 private:
  const Topology& topology_;
  std::optional<NodeId> root_;
  int threads_;
};

/// Both of what a forest is made of, where it spreads and reduces.
double seconds_of(std::span<const Numbers> directions, std::int64_t trees) {
  double seconds = 0;
  for (const Numbers& direction : directions) seconds += direction.fixed(trees).seconds_per_byte();
  return seconds;
}

std::int64_t best_of_few(std::span<const Numbers> directions) {
  std::int64_t best = 1;
  double least = seconds_of(directions, 1);
  for (std::int64_t trees = 2; trees <= k_few_trees; ++trees)
    if (const double seconds = seconds_of(directions, trees); seconds < least * (1 - 1e-12))
      best = trees, least = seconds;
  return best;
}

std::int64_t first_that_is_near(std::span<const Numbers> directions, double optimum) {
  std::int64_t best = 1;
  double least = std::numeric_limits<double>::infinity();
  for (const std::int64_t trees : tree_numbers(k_most_trees_default)) {
    const double seconds = seconds_of(directions, trees);
    if (seconds < least * (1 - 1e-12)) best = trees, least = seconds;
    if (least <= optimum * (1 + k_loss_default)) break;
  }
  return best;
}

/// Trees per root with which all directions are what is wanted.
std::int64_t wanted_trees(std::span<const Numbers> directions, const ForestOptions& options) {
  if (options.trees != 0) return options.trees;
  if (options.few) return best_of_few(directions);
  double optimum = 0;
  Wide common = 1;  // with so many all directions are optimal
  for (const Numbers& direction : directions) {
    const ForestOptimum best = direction.optimum();
    optimum += best.seconds_per_byte();
    common = ratio_of(direction.topology().name(),
                      common * best.trees / std::gcd(static_cast<std::int64_t>(common), best.trees), 1)
                 .numerator;
  }
  if (options.optimum || common <= k_most_trees_default) return static_cast<std::int64_t>(common);
  return first_that_is_near(directions, optimum);
}

/// The same trees the other way.
Packing mirrored(const Packing& packing, const std::vector<LinkId>& twin) {
  Packing mirror = packing;
  turn_routes(mirror);
  for (Route& route : mirror.routes)
    for (LinkId& link : route.links) link = twin[static_cast<std::size_t>(link)];
  return mirror;
}

}  // namespace

std::int32_t Packing::height() const {
  std::int32_t height = 0;
  for (const Tree& tree : trees)
    for (const TreeEdge& edge : tree.edges) height = std::max(height, edge.depth);
  return height;
}

std::int32_t Forest::height() const { return std::max(out.height(), in.height()); }

std::vector<std::int64_t> tree_numbers(std::int64_t most) {
  std::vector<std::int64_t> numbers;
  for (std::int64_t trees = 1; trees <= most; trees += std::max<std::int64_t>(1, trees / 5)) numbers.push_back(trees);
  return numbers;
}

void expect_chunks(const Topology& topology, std::int64_t trees) {
  const std::int64_t most = std::numeric_limits<Chunk>::max() / 4 / topology.hosts();
  if (trees > most)
    throw Error(
        fmt::format("{}: {} trees per root; a schedule of its {} hosts has at most {} chunks of each, so take "
                    "fewer trees",
                    topology.name(), trees, topology.hosts(), most));
}

Packing packed_into(const Topology& topology, const std::vector<LogicalEdge>& edges, std::span<const Capacity> roots) {
  std::vector<CapacityEdge> capacities;
  capacities.reserve(edges.size());
  for (const LogicalEdge& edge : edges) capacities.push_back({edge.tail, edge.head, edge.capacity()});
  const std::vector<PackedTree> packed = pack_trees(topology.hosts(), capacities, roots);
  if (const std::string fault = packing_fault(topology.hosts(), capacities, roots, packed); !fault.empty())
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

Forest pack_forest(const Topology& topology, const ForestOptions& options) {
  if (options.collective == Collective::alltoall)
    throw Error("trees do not make an alltoall; expected another collective");
  const bool is_rooted = rooted(options.collective);
  const bool spreads = options.collective != Collective::reduce_scatter && options.collective != Collective::reduce;
  if (is_rooted) expect_root(topology, options.root);
  const std::optional<NodeId> root = is_rooted ? std::optional<NodeId>(options.root) : std::nullopt;
  const Topology turned = transposed(topology);
  // Where every link has a twin, trees serve in both directions.
  const std::vector<LinkId> twin = spreads && reduces(options.collective) ? twins(topology) : std::vector<LinkId>{};
  std::vector<Numbers> directions;
  if (spreads) directions.emplace_back(topology, root, options.threads);
  if (reduces(options.collective) && twin.empty()) directions.emplace_back(turned, root, options.threads);

  Forest forest;
  forest.collective = options.collective;
  forest.root = is_rooted ? options.root : 0;
  const std::int64_t trees = wanted_trees(directions, options);
  expect_chunks(topology, trees);
  forest.chunks = static_cast<Chunk>(trees);
  for (const Capacity rooted_there : directions.front().roots(trees))
    forest.roots.push_back(static_cast<Chunk>(rooted_there));
  for (const Numbers& direction : directions) {
    const FixedForest wanted = direction.fixed(trees);
    forest.seconds_per_byte += wanted.seconds_per_byte();
    (&direction.topology() == &topology ? forest.out : forest.in) = direction.pack(wanted);
  }
  if (twin.empty()) {
    turn_routes(forest.in);
  } else {
    forest.in = mirrored(forest.out, twin);
    forest.seconds_per_byte *= 2;
  }
  if (options.collective == Collective::allreduce) forest.seconds_per_byte /= topology.hosts();
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
