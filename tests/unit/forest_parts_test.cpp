// The two halves of ForestColl's construction alone, on small random networks: switches taken out, and trees packed
// into what is left. Cuts are counted one by one.
#include <algorithm>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "colltopo/forest.h"
#include "forest/parts.h"
#include "forest/tree_packing.h"
#include "forest/units.h"
#include "switched_networks.h"

namespace colltopo {
namespace {

struct Split {
  Topology topology;
  std::vector<Capacity> roots;  // [host]
  std::vector<Capacity> of_link;
  std::vector<LogicalEdge> edges;
  std::vector<CapacityEdge> capacities;
};

enum class Rooted : unsigned char { alike, one, unlike };

/// A network of up to 7 nodes, with the fewest trees of its optimum or with `trees`, at hosts alike, one, or unlike.
Split split_of(unsigned seed, std::int64_t trees, Rooted rooted) {
  std::mt19937 random(seed);
  const auto hosts = static_cast<NodeId>(2 + random() % 3), switches = static_cast<NodeId>(1 + random() % 3);
  Split split{switched_network(hosts, switches, static_cast<int>(random() % 5), seed), {}, {}, {}, {}};
  const auto root = static_cast<NodeId>(seed % static_cast<unsigned>(hosts));
  const ForestOptimum optimum =
      rooted == Rooted::one ? bcast_optimum(split.topology, root) : forest_optimum(split.topology);
  if (trees == 0) trees = optimum.trees;
  for (NodeId host = 0; host < hosts; ++host)
    split.roots.push_back(rooted == Rooted::alike ? trees
                          : rooted == Rooted::one ? (host == root ? trees : 0)
                                                  : trees * (host == 0 ? 1 : static_cast<Capacity>(random() % 4)));
  const Bandwidths bandwidths = whole_bandwidths(split.topology);
  const Capacity all = std::accumulate(split.roots.begin(), split.roots.end(), Capacity{0});
  split.of_link = trees_per_link(split.topology.name(), bandwidths,
                                 least_capacity(split.topology, bandwidths, split.roots, 1), all);
  split.edges = without_switches(split.topology, split.of_link, split.roots, 1);
  for (const LogicalEdge& edge : split.edges) split.capacities.push_back({edge.tail, edge.head, edge.capacity()});
  return split;
}

Capacity roots_in(const Split& split, unsigned inside) {
  Capacity roots = 0;
  for (std::size_t host = 0; host < split.roots.size(); ++host)
    roots += (inside >> host & 1) != 0 ? split.roots[host] : 0;
  return roots;
}

Capacity leaving(const std::vector<CapacityEdge>& edges, unsigned inside) {
  Capacity sum = 0;
  for (const CapacityEdge& edge : edges)
    if ((inside >> edge.tail & 1) != 0 && (inside >> edge.head & 1) == 0) sum += edge.capacity;
  return sum;
}

template <class Check>
void for_splits(const Check& check) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    for (const std::int64_t trees : {0, 1, 3}) {
      for (const Rooted rooted : {Rooted::alike, Rooted::one, Rooted::unlike}) {
        SCOPED_TRACE("seed " + std::to_string(seed) + ", trees " + std::to_string(trees) + ", rooted " +
                     std::to_string(static_cast<int>(rooted)));
        check(split_of(seed, trees, rooted));
      }
    }
  }
}

TEST(EdgeSplitting, leaves_no_switch) {
  for_splits([](const Split& split) {
    for (const LogicalEdge& edge : split.edges) {
      EXPECT_TRUE(split.topology.is_host(edge.tail) && split.topology.is_host(edge.head));
      EXPECT_NE(edge.tail, edge.head);
      EXPECT_GT(edge.capacity(), 0);
    }
  });
}

TEST(EdgeSplitting, lets_as_many_trees_out_of_every_set_of_hosts_as_it_is_the_root_of) {
  for_splits([](const Split& split) {
    const NodeId hosts = split.topology.hosts();
    for (unsigned inside = 1; inside + 1 < 1U << hosts; ++inside)
      EXPECT_GE(leaving(split.capacities, inside), roots_in(split, inside)) << "set " << inside;
  });
}

TEST(EdgeSplitting, makes_no_cut_between_hosts_wider) {
  for_splits([](const Split& split) {
    const Topology& topology = split.topology;
    const std::vector<CapacityEdge> before = joined_edges(topology, split.of_link);
    const auto hosts = static_cast<unsigned>(topology.hosts());
    for (unsigned inside = 1; inside + 1 < 1U << hosts; ++inside) {
      Capacity narrowest = leaving(before, inside);
      for (unsigned switches = 1; switches < 1U << (topology.nodes() - topology.hosts()); ++switches)
        narrowest = std::min(narrowest, leaving(before, inside | switches << hosts));
      EXPECT_LE(leaving(split.capacities, inside), narrowest) << "set " << inside;
    }
  });
}

TEST(EdgeSplitting, gives_edges_routes_through_switches_that_fit_into_the_links) {
  for_splits([](const Split& split) {
    std::vector<Capacity> used(split.of_link.size(), 0);
    for (const LogicalEdge& edge : split.edges) {
      for (const RoutedAmount& route : edge.routes) {
        NodeId at = edge.tail;
        for (const LinkId link : route.links) {
          EXPECT_EQ(split.topology.link(link).tail, at);
          at = split.topology.link(link).head;
          EXPECT_TRUE(at == edge.head || !split.topology.is_host(at));
          used[static_cast<std::size_t>(link)] += route.amount;
        }
        EXPECT_EQ(at, edge.head);
      }
    }
    for (std::size_t link = 0; link < used.size(); ++link)
      EXPECT_LE(used[link], split.of_link[link]) << "link " << link;
  });
}

TEST(TreePacking, spans_all_hosts_with_every_tree) {
  for_splits([](const Split& split) {
    const NodeId hosts = split.topology.hosts();
    for (const PackedTree& tree : pack_trees(hosts, split.capacities, split.roots)) {
      std::vector<bool> reached(static_cast<std::size_t>(hosts), false);
      reached[static_cast<std::size_t>(tree.root)] = true;
      EXPECT_EQ(tree.edges.size(), static_cast<std::size_t>(hosts - 1));
      for (const std::uint32_t edge : tree.edges) {
        EXPECT_TRUE(reached[static_cast<std::size_t>(split.capacities[edge].tail)]);
        EXPECT_FALSE(reached[static_cast<std::size_t>(split.capacities[edge].head)]);
        reached[static_cast<std::size_t>(split.capacities[edge].head)] = true;
      }
      EXPECT_EQ(std::count(reached.begin(), reached.end(), true), hosts);
    }
  });
}

TEST(TreePacking, keeps_within_the_capacity_of_every_edge) {
  for_splits([](const Split& split) {
    std::vector<Capacity> used(split.capacities.size(), 0);
    for (const PackedTree& tree : pack_trees(split.topology.hosts(), split.capacities, split.roots)) {
      EXPECT_GT(tree.weight, 0);
      for (const std::uint32_t edge : tree.edges) used[edge] += tree.weight;
    }
    for (std::size_t edge = 0; edge < used.size(); ++edge)
      EXPECT_LE(used[edge], split.capacities[edge].capacity) << "edge " << edge;
  });
}

TEST(TreePacking, gives_every_host_its_number_of_trees) {
  for_splits([](const Split& split) {
    std::vector<Capacity> of_root(static_cast<std::size_t>(split.topology.hosts()), 0);
    for (const PackedTree& tree : pack_trees(split.topology.hosts(), split.capacities, split.roots))
      of_root[static_cast<std::size_t>(tree.root)] += tree.weight;
    EXPECT_EQ(of_root, split.roots);
  });
}

// Edmonds: trees exist if and only if every set of hosts has room out for those that it is the root of.
TEST(TreePacking, succeeds_on_random_hosts_whenever_no_cut_forbids_it) {
  std::mt19937 random(9);
  int packed = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const auto hosts = static_cast<NodeId>(2 + random() % 4);
    std::vector<CapacityEdge> edges;
    for (NodeId tail = 0; tail < hosts; ++tail)
      for (NodeId head = 0; head < hosts; ++head)
        if (tail != head && random() % 4 != 0) edges.push_back({tail, head, static_cast<Capacity>(1 + random() % 6)});
    std::vector<Capacity> roots;
    for (NodeId host = 0; host < hosts; ++host) roots.push_back(static_cast<Capacity>(random() % 3));
    if (trial % 3 == 0) roots.assign(roots.size(), 1);
    if (trial % 3 == 1) std::fill(roots.begin() + 1, roots.end(), 0);
    Capacity most = 100;
    for (unsigned inside = 1; inside + 1 < 1U << hosts; ++inside) {
      Capacity rooted = 0;
      for (NodeId host = 0; host < hosts; ++host)
        rooted += (inside >> host & 1) * roots[static_cast<std::size_t>(host)];
      if (rooted > 0) most = std::min(most, leaving(edges, inside) / rooted);
    }
    if (most == 0 || most == 100) continue;
    for (Capacity& root : roots) root *= most;
    const std::vector<PackedTree> packing = pack_trees(hosts, edges, roots);
    EXPECT_EQ(packing_fault(hosts, edges, roots, packing), "") << "trial " << trial;
    ++packed;
  }
  EXPECT_GT(packed, 100);
}

TEST(TreePacking, names_what_is_wrong_with_a_packing) {
  const std::vector<CapacityEdge> edges{{0, 1, 1}, {1, 0, 1}};
  const std::vector<PackedTree> right{{0, 1, {0}}, {1, 1, {1}}};
  const std::vector<Capacity> one{1, 1}, two{2, 2};
  EXPECT_EQ(packing_fault(2, edges, one, right), "");
  EXPECT_NE(packing_fault(2, edges, two, right), "");                                              // too few
  EXPECT_NE(packing_fault(2, edges, one, std::vector<PackedTree>{{0, 1, {}}, {1, 1, {1}}}), "");   // does not span
  EXPECT_NE(packing_fault(2, edges, two, std::vector<PackedTree>{{0, 2, {0}}, {1, 2, {1}}}), "");  // above capacity
}

}  // namespace
}  // namespace colltopo
