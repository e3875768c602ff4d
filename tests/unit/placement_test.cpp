// Ranks on hosts: the derived topology and the places of ranks.
#include <gmock/gmock.h>

#include "colltopo/error.h"
#include "colltopo/placement.h"

namespace colltopo {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(WithRanks, one_on_every_host_changes_nothing) {
  const Topology torus = topology_of("torus:3x3");
  EXPECT_EQ(fingerprint(with_ranks(torus, std::vector<int>(9, 1))), fingerprint(torus));
  EXPECT_EQ(topology_of("torus:3x3/ranks:1").sides(), torus.sides());
}

TEST(WithRanks, a_host_of_several_becomes_a_switch_and_one_of_none_forwards) {
  const Topology ring = with_ranks(topology_of("ring:4"), std::vector<int>{2, 1, 0, 1});
  EXPECT_EQ(ring.hosts(), 4);
  EXPECT_EQ(ring.switches(), 2);
  EXPECT_EQ(ring.links().size(), 8U + 4U);
  EXPECT_EQ(ring.node_name(0), "0.0");
  EXPECT_EQ(ring.node_name(2), "1");
  EXPECT_EQ(distances_from(ring, 0)[1], 2);  // within the host
  EXPECT_EQ(distances_from(ring, 2)[3], 2);  // from host 1 through host 2 to host 3
  // The way into a host is as wide as its links together.
  EXPECT_EQ(ring.link(ring.links_out(0)[0]).bandwidth, 2 * k_default_bandwidth);
}

TEST(WithRanks, is_a_modifier_of_specs) {
  const std::vector<int> ranks_on{2, 2, 2, 0};
  EXPECT_EQ(fingerprint(topology_of("ring:4/ranks:2*3,0")), fingerprint(with_ranks(topology_of("ring:4"), ranks_on)));
  EXPECT_EQ(topology_of("ring:4/ranks:2").name(), "ring:4/ranks:2");
  EXPECT_NE(fingerprint(topology_of("ring:4/ranks:2")), fingerprint(topology_of("ring:4/ranks:3")));
}

std::string fault(std::string_view spec) {
  try {
    topology_of(spec);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(WithRanks, faults_name_the_text_and_what_is_allowed) {
  EXPECT_THAT(fault("ring:4/ranks:2,2"),
              HasSubstr("ranks '2,2': 2 numbers; expected a number of ranks for every host"));
  EXPECT_THAT(fault("ring:4/ranks:x"), HasSubstr("'x' is no number"));
  EXPECT_THAT(fault("ring:4/ranks:1*5"), HasSubstr("more numbers than hosts"));
  EXPECT_THAT(fault("ring:4/ranks:0"), HasSubstr("no ranks; expected at least one"));
}

TEST(RankPlaces, are_ranks_sorted_by_host) {
  const Topology ring = topology_of("ring:3");
  const RankPlaces cyclic = places_of(ring, std::vector<NodeId>{0, 1, 0, 1});
  EXPECT_THAT(cyclic.ranks_on, ElementsAre(2, 2, 0));
  EXPECT_THAT(cyclic.rank_at, ElementsAre(0, 2, 1, 3));
  EXPECT_THAT(cyclic.place_of, ElementsAre(0, 2, 1, 3));
  EXPECT_FALSE(cyclic.in_order);
  EXPECT_TRUE(places_of(ring, std::vector<NodeId>{0, 1, 2}).in_order);
}

TEST(HostNames, match_whole_or_up_to_the_first_dot) {
  const std::vector<std::string> names{"n1.rack1", "n2.rack1", "n2.rack2", "n3"};
  const HostNames hosts(names);
  EXPECT_EQ(hosts.host("n1.rack1"), 0);
  EXPECT_EQ(hosts.host("n1"), 0);
  EXPECT_EQ(hosts.host("n3.cluster.example"), 3);
  EXPECT_EQ(hosts.host("n2"), -1);  // of two
  EXPECT_EQ(hosts.host("n2.rack2"), 2);
  EXPECT_EQ(hosts.host("n4"), -1);
}

}  // namespace
}  // namespace colltopo
