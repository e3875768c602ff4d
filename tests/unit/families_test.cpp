// Families of networks: sizes, degrees and diameters known from the papers that describe them, and what each refuses.
#include <algorithm>
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "colltopo/topology.h"
#include "errors.h"

namespace colltopo {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string error_of(const std::string& spec) {
  return error_from([&] { topology_of(spec); });
}

void expect_simple_and_regular(const std::string& spec, int hosts, int degree) {
  const Topology topology = topology_of(spec);
  EXPECT_EQ(topology.hosts(), hosts) << spec;
  const TopologyFacts facts = facts_of(topology);
  EXPECT_TRUE(facts.regular) << spec;
  EXPECT_TRUE(facts.connected) << spec;
  EXPECT_EQ(facts.largest_degree, degree) << spec;
  std::set<std::pair<NodeId, NodeId>> ends;
  for (const Link& link : topology.links()) ends.emplace(link.tail, link.head);
  EXPECT_EQ(ends.size(), topology.links().size()) << spec << " has parallel links";
  for (const auto& [tail, head] : ends) EXPECT_TRUE(ends.count({head, tail})) << spec;
}

TEST(TwistedHypercube, crosses_two_cables_of_one_square) {
  expect_simple_and_regular("twisted-hypercube:3", 8, 3);
  const Topology twisted = topology_of("twisted-hypercube:3");
  const std::vector<int> distances = distances_from(twisted, 0);
  EXPECT_EQ(distances[3], 1);
  EXPECT_EQ(distances[1], 2);
  EXPECT_EQ(distances[2], 1);
}

TEST(TwistedHypercube, has_a_diameter_one_below_the_dimensions) {
  for (int dimensions = 3; dimensions <= 7; ++dimensions)
    EXPECT_EQ(facts_of(topology_of("twisted-hypercube:" + std::to_string(dimensions))).diameter, dimensions - 1);
  EXPECT_EQ(error_of("twisted-hypercube:2"),
            "twisted-hypercube:2: number of dimensions '2'; expected a whole number in 3..20");
}

TEST(Kautz, is_within_one_of_the_least_diameter) {
  // Imase and Itoh 1983: at most ceil(log_d N).
  for (const auto& [spec, diameter] :
       std::map<std::string, int>{{"kautz:100:4", 4}, {"kautz:256:4", 4}, {"kautz:81:8", 3}, {"kautz:1000:4", 5}})
    EXPECT_LE(facts_of(topology_of(spec)).diameter, diameter) << spec;
}

TEST(Kautz, of_a_kautz_size_is_the_line_digraph_of_a_smaller_one) {
  // d^k + d^(k-1) hosts: no loop, and the diameter k of the Kautz graph.
  const TopologyFacts facts = facts_of(topology_of("kautz:48:2"));
  EXPECT_TRUE(facts.regular);
  EXPECT_EQ(facts.diameter, 5);
}

TEST(Jellyfish, is_regular_simple_and_connected) {
  expect_simple_and_regular("jellyfish:64:4", 64, 4);
  expect_simple_and_regular("jellyfish:15:4:3", 15, 4);
  expect_simple_and_regular("jellyfish:30:3:9", 30, 3);
  expect_simple_and_regular("jellyfish:9:2", 9, 2);
  expect_simple_and_regular("jellyfish:12:10", 12, 10);
  expect_simple_and_regular("jellyfish:11:6", 11, 6);
  expect_simple_and_regular("jellyfish:8:7", 8, 7);
  expect_simple_and_regular("jellyfish:2:1", 2, 1);
  expect_simple_and_regular("jellyfish:1000:4", 1000, 4);
}

TEST(Jellyfish, refuses_what_no_graph_can_be) {
  EXPECT_EQ(error_of("jellyfish:7:3"), "jellyfish:7:3: 7 hosts of degree 3; expected one of both to be even");
  EXPECT_EQ(error_of("jellyfish:8:8"), "jellyfish:8:8: degree '8'; expected a whole number in 2..7");
  EXPECT_EQ(error_of("jellyfish:8:1"), "jellyfish:8:1: degree '1'; expected a whole number in 2..7");
  EXPECT_EQ(error_of("jellyfish:8"), "jellyfish:8: 1 parameters; expected jellyfish:HOSTS:DEGREE[:SEED]");
  EXPECT_EQ(error_of("jellyfish:8:3:x"), "jellyfish:8:3:x: seed 'x'; expected a whole number in 0..2147483647");
  EXPECT_THAT(error_of("jellyfish:1000000:1000"), HasSubstr("too many links; expected hosts times degree up to"));
}

TEST(Circulant, joins_hosts_by_its_strides_both_ways) {
  expect_simple_and_regular("circulant:16:1,4", 16, 4);
  expect_simple_and_regular("circulant:16:1,8", 16, 3);  // half way round there is one cable for two
  expect_simple_and_regular("circulant:15:5,6", 15, 4);
  const Topology graph = topology_of("circulant:15:5,6");
  std::set<int> heads;
  for (const LinkId id : graph.links_out(2)) heads.insert(graph.link(id).head);
  EXPECT_EQ(heads, (std::set<int>{7, 8, 11, 12}));
  EXPECT_EQ(fingerprint(topology_of("circulant:8:1")), fingerprint(topology_of("ring:8")));
}

TEST(Circulant, refuses_strides_that_repeat_reach_too_far_or_leave_parts) {
  EXPECT_EQ(error_of("circulant:16:1,9"), "circulant:16:1,9: stride '9'; expected a whole number in 1..8");
  EXPECT_EQ(error_of("circulant:16:1,"), "circulant:16:1,: stride ''; expected a whole number in 1..8");
  EXPECT_EQ(error_of("circulant:16:3,3"), "circulant:16:3,3: stride 3 twice; expected every stride once");
  EXPECT_EQ(error_of("circulant:16:2,6"),
            "circulant:16:2,6: 2 divides the hosts and all strides, so that they fall into 2 parts; expected a stride "
            "that has no divisor in common with the others and the hosts, such as 1");
}

TEST(Xpander, is_a_lift_of_a_complete_graph) {
  expect_simple_and_regular("xpander:40:4", 40, 4);
  expect_simple_and_regular("xpander:5:4", 5, 4);
  expect_simple_and_regular("xpander:1000:4:2", 1000, 4);
  // No cable within a group, one to every other group.
  const Topology lift = topology_of("xpander:40:4:5");
  for (NodeId host = 0; host < 40; ++host) {
    std::set<int> groups{host / 8};
    for (const LinkId id : lift.links_out(host)) groups.insert(lift.link(id).head / 8);
    EXPECT_EQ(groups.size(), 5u);
  }
}

TEST(Xpander, refuses_sizes_that_are_no_lift) {
  EXPECT_EQ(error_of("xpander:42:4"), "xpander:42:4: 42 hosts of degree 4; expected a multiple of 5 hosts, such as 45");
  EXPECT_EQ(error_of("xpander:40:2"), "xpander:40:2: degree '2'; expected a whole number in 3..39");
}

TEST(RandomFamilies, are_the_same_everywhere_and_follow_their_seed) {
  EXPECT_EQ(fingerprint(topology_of("jellyfish:64:4")), fingerprint(topology_of("jellyfish:64:4:1")));
  EXPECT_NE(fingerprint(topology_of("jellyfish:64:4")), fingerprint(topology_of("jellyfish:64:4:2")));
  EXPECT_NE(fingerprint(topology_of("xpander:40:4")), fingerprint(topology_of("xpander:40:4:2")));
  // Fixed by std::mt19937_64 and our own draws: a change would break the networks that people have named.
  EXPECT_EQ(fingerprint(topology_of("jellyfish:64:4")), "64h0s256l-46f8b83d5902109d");
  EXPECT_EQ(fingerprint(topology_of("xpander:40:4")), "40h0s160l-7f675a60563a3c6d");
}

TEST(SlimFly, has_two_q_squared_hosts_of_the_known_degree_and_diameter_2) {
  // Besta and Hoefler 2014: degree (3q - delta) / 2 for q = 4w + delta.
  for (const auto& [q, degree] :
       std::map<int, int>{{3, 5}, {4, 6}, {5, 7}, {7, 11}, {8, 12}, {9, 13}, {11, 17}, {13, 19}, {16, 24}}) {
    const std::string spec = "slimfly:" + std::to_string(q);
    expect_simple_and_regular(spec, 2 * q * q, degree);
    EXPECT_EQ(facts_of(topology_of(spec)).diameter, 2) << spec;
  }
}

TEST(SlimFly, of_q_5_is_the_hoffman_singleton_graph) {
  // Diameter 2 and 50 = 1 + 7 + 7*6 hosts: every two hosts have one shortest path, so no squares and no triangles.
  const Topology graph = topology_of("slimfly:5");
  for (NodeId host = 0; host < 50; ++host) {
    const std::vector<int> distances = distances_from(graph, host);
    EXPECT_EQ(std::count(distances.begin(), distances.end(), 1), 7);
    EXPECT_EQ(std::count(distances.begin(), distances.end(), 2), 42);
  }
}

TEST(SlimFly, refuses_what_has_no_field) {
  for (const char* q : {"6", "10", "12", "15", "100"})
    EXPECT_EQ(error_of(std::string("slimfly:") + q),
              std::string("slimfly:") + q + ": Q " + q +
                  "; expected a power of a prime, such as 3 4 5 7 8 9 11 13 16 17 19 23 25 27");
  EXPECT_EQ(error_of("slimfly:2"), "slimfly:2: Q '2'; expected a whole number in 3..211");
}

struct Counts {
  std::string spec;
  int hosts, switches, cables, host_degree, diameter;
};

class Counted : public testing::TestWithParam<Counts> {};

TEST_P(Counted, has_the_sizes_of_its_formula) {
  const Topology topology = topology_of(GetParam().spec);
  const TopologyFacts facts = facts_of(topology);
  EXPECT_EQ(facts.hosts, GetParam().hosts);
  EXPECT_EQ(facts.switches, GetParam().switches);
  EXPECT_EQ(facts.links, 2 * GetParam().cables);
  EXPECT_EQ(facts.largest_degree, GetParam().host_degree);
  EXPECT_EQ(facts.diameter, GetParam().diameter);
}

INSTANTIATE_TEST_SUITE_P(
    Families, Counted,
    testing::Values(Counts{"fattree:4", 16, 20, 48, 1, 6}, Counts{"fattree:8", 128, 80, 384, 1, 6},
                    Counts{"fattree:2", 2, 5, 6, 1, 6},
                    // a = 2p = 2h, balanced: 9 groups of 4, 19 of 6 (Kim et al., Fig. 5 has the first)
                    Counts{"dragonfly:4:2:2", 72, 36, 72 + 54 + 36, 1, 5},
                    Counts{"dragonfly:6:3:3", 342, 114, 342 + 285 + 171, 1, 5},
                    Counts{"dragonfly:1:3:1", 6, 2, 7, 1, 3}, Counts{"hyperx:4x4", 16, 0, 48, 6, 2},
                    Counts{"hyperx:3x4x5", 60, 0, 60 * 9 / 2, 9, 3}, Counts{"hyperx:16x16", 256, 0, 256 * 15, 30, 2},
                    // per board: 4 cables inside, 8 to switches
                    Counts{"hammingmesh:2x2:4x4", 64, 16, 16 * 12, 4, 4},
                    Counts{"hammingmesh:1x1:3x3", 9, 6, 9 * 4, 4, 4},
                    Counts{"hammingmesh:4x4:2x3", 96, 20, 6 * (24 + 16), 4, 8}, Counts{"dgx-a100:1", 8, 1, 8, 1, 2},
                    Counts{"dgx-a100:2", 16, 4, 32, 2, 4}, Counts{"mi250:1", 16, 0, 28, 4, 5},
                    Counts{"mi250:2", 32, 1, 56 + 32, 5, 2}, Counts{"mi250:2:8", 16, 1, 22 + 16, 5, 2}),
    [](const auto& test) {
      std::string name = test.param.spec;
      std::replace_if(
          name.begin(), name.end(), [](char letter) { return letter == ':' || letter == '-'; }, '_');
      return name;
    });

TEST(FatTree, offers_every_host_its_full_bandwidth_across_the_core) {
  // k^3/4 hosts in k pods: each pod has as much bandwidth up as its hosts have.
  const Topology tree = topology_of("fattree:4");
  for (NodeId node = 0; node < tree.nodes(); ++node) {
    const std::size_t ports = tree.links_out(node).size();
    EXPECT_EQ(ports, tree.is_host(node) ? 1u : 4u) << tree.node_name(node);
  }
  EXPECT_EQ(error_of("fattree:5"), "fattree:5: 5 ports; expected an even number, half of them towards the hosts");
  EXPECT_EQ(error_of("fattree:500"), "fattree:500: number of ports '500'; expected a whole number in 2..128");
}

TEST(Dragonfly, joins_every_two_groups_once_and_gives_routers_equal_ports) {
  const Topology topology = topology_of("dragonfly:4:2:2");
  std::map<std::pair<int, int>, int> between;
  for (const Link& link : topology.links()) {
    if (topology.is_host(link.tail) || topology.is_host(link.head)) continue;
    const int from = (link.tail - 72) / 4, to = (link.head - 72) / 4;
    if (from != to) ++between[{from, to}];
  }
  EXPECT_EQ(between.size(), 72u);
  for (const auto& [groups, links] : between) EXPECT_EQ(links, 1);
  for (NodeId router = 72; router < topology.nodes(); ++router)
    EXPECT_EQ(topology.links_out(router).size(), 2u + 3u + 2u);
  EXPECT_EQ(error_of("dragonfly:4:2"), "dragonfly:4:2: 2 parameters; expected dragonfly:ROUTERS:HOSTS:GLOBAL");
  EXPECT_EQ(error_of("dragonfly:4:0:2"),
            "dragonfly:4:0:2: number of hosts of a router '0'; expected a whole number in 1..1024");
  EXPECT_THAT(error_of("dragonfly:1000:10:1000"), HasSubstr("hosts; expected up to 1048576"));
}

TEST(HammingMesh, has_trees_of_two_levels_where_64_ports_do_not_suffice) {
  // 40 boards of one accelerator in a row: 80 cables, 3 leaves, 2 spines.
  const Topology wide = topology_of("hammingmesh:1x1:1x40");
  EXPECT_EQ(wide.hosts(), 40);
  EXPECT_EQ(wide.switches(), 5 + 40);
  for (NodeId node = 40; node < 43; ++node) {  // leaves of the row: as much bandwidth up as down
    double down = 0, up = 0;
    for (const LinkId id : wide.links_out(node)) {
      const Link& link = wide.link(id);
      (wide.is_host(link.head) ? down : up) += link.bandwidth;
    }
    EXPECT_DOUBLE_EQ(up, 32 * k_default_bandwidth);
    EXPECT_LE(down, up);
  }
  EXPECT_EQ(topology_of("hammingmesh:2x2:32x32").switches(), 128) << "64 cables: one switch a row and a column";
  EXPECT_THAT(topology_of("hammingmesh:2x3:4x5").arrangement(), ElementsAre(8, 15));
  EXPECT_EQ(error_of("hammingmesh:2:4x4"), "hammingmesh:2:4x4: '2'; expected two sides such as 2x2");
}

TEST(Boxes, have_the_cuts_that_bound_allgather_in_forestcoll) {
  // Zhao et al.: GB/s of all data over time. A cut with s of the N GPUs inside bounds it by its bandwidth out times N /
  // s.
  const auto algorithmic_bandwidth = [](const std::string& spec, const std::set<NodeId>& outside) {
    const Topology topology = topology_of(spec);
    double out = 0;
    for (const Link& link : topology.links())
      if (outside.count(link.tail) == 0 && outside.count(link.head) > 0) out += link.bandwidth;
    double hosts_outside = 0;
    for (const NodeId node : outside) hosts_outside += topology.is_host(node) ? 1 : 0;
    return out * topology.hosts() / (topology.hosts() - hosts_outside) / 1e9;
  };
  EXPECT_NEAR(algorithmic_bandwidth("dgx-a100:1", {0}), 342.857, 5e-4);
  EXPECT_NEAR(algorithmic_bandwidth("dgx-a100:2", {0}), 346.667, 5e-4);
  EXPECT_NEAR(algorithmic_bandwidth("dgx-a100:4", {0, 1, 2, 3, 4, 5, 6, 7, 32}), 266.667, 5e-4);
  EXPECT_NEAR(algorithmic_bandwidth("mi250:1", {0, 1}), 342.857, 5e-4);
  EXPECT_NEAR(algorithmic_bandwidth("mi250:2", {0, 1}), 354.133, 5e-4);
}

TEST(Boxes, have_even_and_odd_rails) {
  const Topology boxes = topology_of("dgx-a100:3");
  EXPECT_EQ(boxes.node_name(9), "gpu1.1");
  for (NodeId gpu = 0; gpu < 24; ++gpu)
    EXPECT_EQ(boxes.node_name(boxes.link(boxes.links_out(gpu)[1]).head), gpu % 2 == 0 ? "infiniband0" : "infiniband1");
  EXPECT_EQ(error_of("mi250:2:4"), "mi250:2:4: 4 GPUs per box; expected 8 or 16");
  EXPECT_EQ(error_of("dgx-a100:0"), "dgx-a100:0: number of boxes '0'; expected a whole number in 1..4096");
}

TEST(Theorem1, is_the_sum_of_distances_of_the_fullest_tree) {
  EXPECT_DOUBLE_EQ(theorem_1_time(21, 4), (4 * 1 + 16 * 2) / 4.0);
  EXPECT_DOUBLE_EQ(theorem_1_time(5, 4), 1);
  EXPECT_DOUBLE_EQ(theorem_1_time(8, 1), 28) << "a one-way ring reaches it";
  EXPECT_DOUBLE_EQ(theorem_1_time(1, 4), 0);
  // Generalized Kautz comes close: 80.93 at 100 hosts of degree 4.
  EXPECT_DOUBLE_EQ(theorem_1_time(100, 4), (4 + 2 * 16 + 3 * 64 + 4 * 15) / 4.0);
}

}  // namespace
}  // namespace colltopo
