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

}  // namespace
}  // namespace colltopo
