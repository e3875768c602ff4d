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
  NodeId roots = 0;
  Capacity bandwidth = 0;  // units
};

bool is_narrower(const Leaving& a, const Leaving& b) {
  return Wide{a.roots} * b.bandwidth > Wide{b.roots} * a.bandwidth;
}

/// Where `is_root` ([host]) says who spreads something.
class Narrowing {
 public:
  Narrowing(const Topology& topology, std::vector<bool> is_root, int threads)
      : topology_(topology),
        is_root_(std::move(is_root)),
        roots_(static_cast<NodeId>(std::ranges::count(is_root_, true))),
        threads_(threads),
        bandwidths_(whole_bandwidths(topology)),
        edges_(joined_edges(topology, bandwidths_.of_link)) {}

  ForestOptimum run() const {
    Leaving set = all_but_one();
    Ratio ratio = ratio_of(topology_.name(), set.roots, set.bandwidth);
    while (std::optional<Leaving> next = narrower(ratio)) {
      set = std::move(*next);
      ratio = ratio_of(topology_.name(), set.roots, set.bandwidth);
    }
    ForestOptimum optimum;
    optimum.hosts = topology_.hosts();
    optimum.roots = roots_;
    optimum.unit = bandwidths_.unit;
    optimum.inverse_x = ratio;
    // Proposition 3: U = p / gcd(q, all bandwidths). Bandwidths in units have no common divisor.
    optimum.trees = ratio.denominator;
    optimum.capacity_per_unit = {ratio.numerator, 1};
    optimum.hosts_inside =
        static_cast<NodeId>(std::count(set.inside.begin(), set.inside.begin() + topology_.hosts(), true));
    optimum.inside = std::move(set.inside);
    optimum.roots_inside = set.roots;
    optimum.bandwidth_out = set.bandwidth;
    return optimum;
  }

 private:
  Leaving leaving(std::vector<bool> inside) const {
    Leaving set;
    const auto is_inside = [&](NodeId node) { return inside[static_cast<std::size_t>(node)]; };
    for (NodeId host = 0; host < topology_.hosts(); ++host)
      set.roots += is_inside(host) && is_root_[static_cast<std::size_t>(host)] ? 1 : 0;
    for (const CapacityEdge& edge : edges_)
      if (is_inside(edge.tail) && !is_inside(edge.head)) set.bandwidth += edge.capacity;
    set.inside = std::move(inside);
    return set;
  }

  /// All nodes but one host: the narrowest of these sets.
  Leaving all_but_one() const {
    std::vector<Capacity> entering(static_cast<std::size_t>(topology_.nodes()), 0);
    for (const CapacityEdge& edge : edges_) entering[static_cast<std::size_t>(edge.head)] += edge.capacity;
    const auto without = [&](NodeId host) {
      const auto at = static_cast<std::size_t>(host);
      return Leaving{{}, roots_ - (is_root_[at] ? 1 : 0), entering[at]};
    };
    NodeId narrowest = 0;
    for (NodeId host = 1; host < topology_.hosts(); ++host)
      if (is_narrower(without(host), without(narrowest))) narrowest = host;
    std::vector<bool> inside(entering.size(), true);
    inside[static_cast<std::size_t>(narrowest)] = false;
    return leaving(std::move(inside));
  }

  /// The narrowest of some sets narrower than `ratio`; none when trees of that bandwidth exist.
  std::optional<Leaving> narrower(const Ratio& ratio) const {
    // Capacities and roots times p * q / q: links b * p, the source q for every root. No link needs more than all
    // trees.
    const Wide all = Wide{roots_} * ratio.denominator;
    const Capacity most = ratio_of(topology_.name(), all, 1).numerator;
    std::vector<CapacityEdge> scaled = edges_;
    for (CapacityEdge& edge : scaled)
      edge.capacity = static_cast<Capacity>(std::min<Wide>(Wide{edge.capacity} * ratio.numerator, most));
    std::vector<Capacity> trees;
    for (const bool is_root : is_root_) trees.push_back(is_root ? ratio.denominator : 0);
    std::optional<Leaving> narrowest;
    for (std::vector<bool>& inside : violated_cuts({topology_.hosts(), topology_.nodes(), scaled, trees}, threads_)) {
      Leaving set = leaving(std::move(inside));
      if (!narrowest || is_narrower(set, *narrowest)) narrowest = std::move(set);
    }
    return narrowest;
  }

  const Topology& topology_;
  std::vector<bool> is_root_;
  NodeId roots_;
  int threads_;
  Bandwidths bandwidths_;
  std::vector<CapacityEdge> edges_;
};

}  // namespace

ForestOptimum forest_optimum(const Topology& topology, int threads) {
  return Narrowing(topology, std::vector<bool>(static_cast<std::size_t>(topology.hosts()), true), threads).run();
}

ForestOptimum bcast_optimum(const Topology& topology, NodeId root, int threads) {
  expect_root(topology, root);
  std::vector<bool> is_root(static_cast<std::size_t>(topology.hosts()), false);
  is_root[static_cast<std::size_t>(root)] = true;
  return Narrowing(topology, std::move(is_root), threads).run();
}

bool is_attained(const Topology& topology, NodeId* greedy) {
  const Bandwidths bandwidths = whole_bandwidths(topology);
  std::vector<Capacity> kept(static_cast<std::size_t>(topology.nodes()), 0);  // of what enters
  for (std::size_t link = 0; link < bandwidths.of_link.size(); ++link) {
    kept[static_cast<std::size_t>(topology.links()[link].head)] += bandwidths.of_link[link];
    kept[static_cast<std::size_t>(topology.links()[link].tail)] -= bandwidths.of_link[link];
  }
  const auto found =
      std::find_if(kept.begin() + topology.hosts(), kept.end(), [](Capacity bandwidth) { return bandwidth < 0; });
  if (found != kept.end() && greedy != nullptr) *greedy = static_cast<NodeId>(found - kept.begin());
  return found == kept.end();
}

}  // namespace colltopo
