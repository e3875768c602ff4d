// The optimum by Dinkelbach's iteration instead of bisection (Algorithm 1): a set of nodes gives a ratio; if trees of
// that bandwidth do not exist, a minimum cut is a set of larger ratio; if they do, the set is the narrowest. One to
// three rounds in practice, and never a rounded number.
#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "colltopo/error.h"
#include "forest/spanning_test.h"
#include "forest/units.h"

namespace colltopo {

namespace {

/// A set of nodes and what leaves it.
struct Leaving {
  std::vector<bool> inside;
  NodeId hosts = 0;
  Capacity bandwidth = 0;  // units
};

Leaving leaving(NodeId hosts, const std::vector<CapacityEdge>& edges, std::vector<bool> inside) {
  Leaving set;
  const auto is_inside = [&](NodeId node) { return inside[static_cast<std::size_t>(node)]; };
  for (NodeId host = 0; host < hosts; ++host) set.hosts += is_inside(host) ? 1 : 0;
  for (const CapacityEdge& edge : edges)
    if (is_inside(edge.tail) && !is_inside(edge.head)) set.bandwidth += edge.capacity;
  set.inside = std::move(inside);
  return set;
}

bool is_narrower(const Leaving& a, const Leaving& b) {
  return Wide{a.hosts} * b.bandwidth > Wide{b.hosts} * a.bandwidth;
}

/// All nodes but the host that the least bandwidth enters.
Leaving all_but_one(const Topology& topology, const std::vector<CapacityEdge>& edges) {
  std::vector<Capacity> entering(static_cast<std::size_t>(topology.nodes()), 0);
  for (const CapacityEdge& edge : edges) entering[static_cast<std::size_t>(edge.head)] += edge.capacity;
  std::vector<bool> inside(entering.size(), true);
  const auto least = std::min_element(entering.begin(), entering.begin() + topology.hosts());
  inside[static_cast<std::size_t>(least - entering.begin())] = false;
  return leaving(topology.hosts(), edges, std::move(inside));
}

/// Sets narrower than `ratio`, of which the narrowest is returned; none when trees of that bandwidth exist.
std::optional<Leaving> narrower(const Topology& topology, const std::vector<CapacityEdge>& edges, const Ratio& ratio,
                                int threads) {
  // Capacities and roots times p * q / q: links b * p, the source q for every host. No link needs more than all trees.
  const Wide all = Wide{topology.hosts()} * ratio.denominator;
  const Capacity most = ratio_of(topology.name(), all, 1).numerator;
  std::vector<CapacityEdge> scaled = edges;
  for (CapacityEdge& edge : scaled)
    edge.capacity = static_cast<Capacity>(std::min<Wide>(Wide{edge.capacity} * ratio.numerator, most));
  const std::vector<Capacity> roots(static_cast<std::size_t>(topology.hosts()), ratio.denominator);
  std::optional<Leaving> narrowest;
  for (std::vector<bool>& inside : violated_cuts({topology.hosts(), topology.nodes(), scaled, roots}, threads)) {
    Leaving set = leaving(topology.hosts(), edges, std::move(inside));
    if (!narrowest || is_narrower(set, *narrowest)) narrowest = std::move(set);
  }
  return narrowest;
}

}  // namespace

ForestOptimum forest_optimum(const Topology& topology, int threads) {
  const Bandwidths bandwidths = whole_bandwidths(topology);
  const std::vector<CapacityEdge> edges = joined_edges(topology, bandwidths.of_link);
  Leaving set = all_but_one(topology, edges);
  Ratio ratio = ratio_of(topology.name(), set.hosts, set.bandwidth);
  while (std::optional<Leaving> next = narrower(topology, edges, ratio, threads)) {
    set = std::move(*next);
    ratio = ratio_of(topology.name(), set.hosts, set.bandwidth);
  }

  ForestOptimum optimum;
  optimum.hosts = topology.hosts();
  optimum.unit = bandwidths.unit;
  optimum.inverse_x = ratio;
  // Proposition 3: U = p / gcd(q, all bandwidths). Bandwidths in units have no common divisor.
  optimum.trees = ratio.denominator;
  optimum.capacity_per_unit = {ratio.numerator, 1};
  optimum.inside = std::move(set.inside);
  optimum.hosts_inside = set.hosts;
  optimum.bandwidth_out = set.bandwidth;
  return optimum;
}

}  // namespace colltopo
