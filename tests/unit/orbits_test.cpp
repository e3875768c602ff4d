// Orbits of hosts and links under automorphisms: against those known for generalized Kautz graphs and by hand.
#include "topology/orbits.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace colltopo {
namespace {

using testing::ElementsAre;

struct Counts {
  std::string spec;
  int host_orbits, link_orbits;
};

class OrbitCounts : public testing::TestWithParam<Counts> {};

TEST_P(OrbitCounts, are_those_of_the_graph) {
  const Orbits orbits = orbits_of(topology_of(GetParam().spec));
  EXPECT_EQ(orbits.host_orbits, GetParam().host_orbits);
  EXPECT_EQ(orbits.link_orbits, GetParam().link_orbits);
}

INSTANTIATE_TEST_SUITE_P(Orbits, OrbitCounts,
                         testing::Values(Counts{"kautz:256:4", 15, 50}, Counts{"kautz:1000:4", 100, 400},
                                         Counts{"kautz:4096:4", 187, 714}, Counts{"torus:64x64", 1, 1},
                                         Counts{"torus:4x6", 1, 2}, Counts{"torus:16x16x16", 1, 1},
                                         Counts{"hypercube:12", 1, 1}, Counts{"mesh:3x3", 3, 4},
                                         Counts{"complete:300", 1, 1}, Counts{"bipartite:3:4", 2, 2},
                                         Counts{"switch:4096", 1, 2}, Counts{"ring:7", 1, 1}),
                         [](const auto& test) {
                           std::string name = test.param.spec;
                           std::replace(name.begin(), name.end(), ':', '_');
                           return name;
                         });

/// How many links of a bandwidth go from one node to another.
std::map<std::tuple<NodeId, NodeId, double>, int> links_by_ends(const Topology& topology,
                                                                const std::vector<NodeId>& image) {
  std::map<std::tuple<NodeId, NodeId, double>, int> counts;
  for (const Link& link : topology.links())
    ++counts[{image[static_cast<std::size_t>(link.tail)], image[static_cast<std::size_t>(link.head)], link.bandwidth}];
  return counts;
}

TEST(Orbits, generators_are_automorphisms) {
  TopologyBuilder builder("two racks", 6, 3);
  for (NodeId host = 0; host < 6; ++host) builder.cable(host, host < 3 ? 6 : 7);
  builder.link(6, 8, 4e9).link(8, 6, 4e9).link(7, 8, 4e9).link(8, 7, 4e9).cable(6, 7).cable(6, 7);
  for (const Topology& topology : {std::move(builder).build(), topology_of("kautz:30:3"), topology_of("torus:4x4"),
                                   topology_of("complete:5"), topology_of("hyperx:3x4")}) {
    std::vector<NodeId> identity(static_cast<std::size_t>(topology.nodes()));
    for (std::size_t node = 0; node < identity.size(); ++node) identity[node] = static_cast<NodeId>(node);
    const auto before = links_by_ends(topology, identity);
    const Orbits orbits = orbits_of(topology);
    EXPECT_FALSE(orbits.generators.empty());
    for (const std::vector<NodeId>& generator : orbits.generators) {
      EXPECT_NE(generator, identity);
      EXPECT_EQ(links_by_ends(topology, generator), before) << topology.name();
      for (NodeId host = 0; host < topology.hosts(); ++host)
        EXPECT_LT(generator[static_cast<std::size_t>(host)], topology.hosts());
    }
  }
}

TEST(Orbits, hosts_alike_on_two_racks_fall_together) {
  TopologyBuilder builder("racks of 2 and 3", 5, 2);
  for (NodeId host = 0; host < 5; ++host) builder.cable(host, host < 2 ? 5 : 6);
  builder.cable(5, 6);
  const Orbits orbits = orbits_of(std::move(builder).build());
  EXPECT_THAT(orbits.host_orbit, ElementsAre(0, 0, 1, 1, 1));
  EXPECT_THAT(orbits.link_orbit, ElementsAre(0, 1, 0, 1, 2, 3, 2, 3, 2, 3, 4, 5));
  EXPECT_NEAR(orbits.log10_group_size, std::log10(2 * 6), 1e-9);
}

TEST(Orbits, hosts_alike_and_joined_are_not_taken_for_hosts_alike_and_apart) {
  // Two hosts joined to each other and to a third, which is joined to two more that are apart.
  TopologyBuilder builder("a triangle and two leaves", 5);
  builder.cable(0, 1).cable(0, 2).cable(1, 2).cable(2, 3).cable(2, 4);
  const Orbits orbits = orbits_of(std::move(builder).build());
  EXPECT_THAT(orbits.host_orbit, ElementsAre(0, 0, 1, 2, 2));
  EXPECT_NEAR(orbits.log10_group_size, std::log10(4), 1e-9);
}

TEST(Orbits, bandwidth_tells_links_apart_and_parallel_links_of_one_bandwidth_are_alike) {
  TopologyBuilder builder("a triangle with a fast side", 3);
  builder.cable(0, 1).cable(0, 1).cable(1, 2).cable(2, 0).link(0, 1, 9e9).link(1, 0, 9e9);
  const Orbits orbits = orbits_of(std::move(builder).build());
  EXPECT_THAT(orbits.host_orbit, ElementsAre(0, 0, 1));
  EXPECT_THAT(orbits.link_orbit, ElementsAre(0, 0, 0, 0, 1, 2, 2, 1, 3, 3));
}

TEST(Orbits, facts_of_one_host_of_each_are_those_of_all) {
  TopologyBuilder one_way("a cycle and a way out of it", 4);
  one_way.link(0, 1).link(1, 2).link(2, 0).link(2, 3);
  for (const Topology& topology :
       {topology_of("hyperx:5x6"), topology_of("hyperx:5x6/drop-links:3:1"), topology_of("kautz:50:3"),
        topology_of("mesh:4x5"), topology_of("switch:9"), topology_of("bipartite:3:4"), topology_of("torus:4x6"),
        topology_of("fattree:4/drop-hosts:3:2"), std::move(one_way).build()}) {
    const TopologyFacts all = facts_of(topology), of_orbits = facts_of(topology, orbits_of(topology));
    EXPECT_EQ(of_orbits.connected, all.connected) << topology.name();
    EXPECT_EQ(of_orbits.diameter, all.diameter) << topology.name();
    EXPECT_EQ(of_orbits.average_distance, all.average_distance) << topology.name();
    EXPECT_EQ(of_orbits.bisection, all.bisection) << topology.name();
  }
}

TEST(Orbits, group_sizes_of_known_graphs) {
  EXPECT_NEAR(orbits_of(topology_of("hypercube:4")).log10_group_size, std::log10(16 * 24), 1e-9);
  EXPECT_NEAR(orbits_of(topology_of("torus:5x5")).log10_group_size, std::log10(25 * 8), 1e-9);
  EXPECT_NEAR(orbits_of(topology_of("switch:5")).log10_group_size, std::log10(120), 1e-9);
  EXPECT_NEAR(orbits_of(topology_of("bipartite:3:3")).log10_group_size, std::log10(72), 1e-9);
  EXPECT_NEAR(orbits_of(topology_of("complete:5")).log10_group_size, std::log10(120), 1e-9);
}

TEST(Orbits, cliques_that_share_no_edge_do_not_change_them) {
  // The lines of a HyperX: permutations along every side, and of sides of one length.
  const Orbits square = orbits_of(topology_of("hyperx:6x6"));
  EXPECT_NEAR(square.log10_group_size, std::log10(720.0 * 720 * 2), 1e-9);
  EXPECT_EQ(square.host_orbits, 1);
  EXPECT_EQ(square.link_orbits, 1);
  const Orbits cube = orbits_of(topology_of("hyperx:4x4x5"));
  EXPECT_NEAR(cube.log10_group_size, std::log10(24.0 * 24 * 120 * 2), 1e-9);
  EXPECT_EQ(cube.link_orbits, 2);
  // Two cliques of five that share two vertices, and with them an edge: each stays as it is.
  TopologyBuilder builder("overlapping cliques", 8);
  for (NodeId a = 0; a < 5; ++a)
    for (NodeId b = a + 1; b < 5; ++b) builder.cable(a, b);
  for (NodeId a = 3; a < 8; ++a)
    for (NodeId b = std::max(a + 1, 5); b < 8; ++b) builder.cable(a, b);
  const Orbits overlapping = orbits_of(std::move(builder).build());
  EXPECT_NEAR(overlapping.log10_group_size, std::log10(6.0 * 6 * 2 * 2), 1e-9);
  EXPECT_THAT(overlapping.host_orbit, ElementsAre(0, 0, 0, 1, 1, 0, 0, 0));
}

TEST(Orbits, a_graph_without_symmetry_has_an_orbit_per_host_and_link) {
  TopologyBuilder builder("a path with a tail", 4);
  builder.link(0, 1).link(1, 2).link(2, 3).link(3, 0).link(3, 1);
  const Orbits orbits = orbits_of(std::move(builder).build());
  EXPECT_EQ(orbits.host_orbits, 4);
  EXPECT_EQ(orbits.link_orbits, 5);
  EXPECT_EQ(orbits.log10_group_size, 0);
  EXPECT_TRUE(orbits.generators.empty());
}

}  // namespace
}  // namespace colltopo
