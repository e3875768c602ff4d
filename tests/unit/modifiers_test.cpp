// Modifiers of spec strings: limits of hosts, and networks that lost cables and hosts.
#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "colltopo/topology.h"
#include "errors.h"

namespace colltopo {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::string error_of(const std::string& spec) {
  return error_from([&] { topology_of(spec); });
}

std::vector<std::string> host_names(const Topology& topology) {
  std::vector<std::string> names;
  for (NodeId host = 0; host < topology.hosts(); ++host) names.push_back(topology.node_name(host));
  return names;
}

double busiest_over_capacity(const Topology& topology) {
  const ShortestPaths paths(topology);
  std::vector<double> loads(topology.links().size(), 0);
  for (NodeId source = 0; source < topology.hosts(); ++source)
    for (NodeId target = 0; target < topology.hosts(); ++target)
      for (const LinkId link : paths.path(source, target)) ++loads[static_cast<std::size_t>(link)];
  double most = 0;
  for (std::size_t link = 0; link < loads.size(); ++link)
    most = std::max(most, loads[link] / (topology.links()[link].bandwidth / k_default_bandwidth));
  return most;
}

TEST(HostBandwidth, follows_figure_2) {
  const Topology torus = topology_of("torus:3x3x3"), limited = topology_of("torus:3x3x3/host-bandwidth:4");
  EXPECT_EQ(limited.hosts(), 27);
  EXPECT_EQ(limited.switches(), 54);
  ASSERT_EQ(limited.links().size(), torus.links().size() + 54);
  EXPECT_TRUE(limited.sides().empty());
  for (NodeId host = 0; host < 27; ++host) {
    ASSERT_EQ(limited.links_out(host).size(), 1u);
    ASSERT_EQ(limited.links_in(host).size(), 1u);
    const Link& out = limited.link(limited.links_out(host)[0]);
    const Link& in = limited.link(limited.links_in(host)[0]);
    EXPECT_DOUBLE_EQ(out.bandwidth, 4 * k_default_bandwidth);
    EXPECT_DOUBLE_EQ(in.bandwidth, 4 * k_default_bandwidth);
    EXPECT_EQ(limited.links_out(out.head).size(), 6u);
    EXPECT_EQ(limited.links_in(out.head).size(), 1u) << "only the host feeds its links";
    EXPECT_EQ(limited.links_in(in.tail).size(), 6u);
    EXPECT_EQ(limited.links_out(in.tail).size(), 1u) << "what arrives leaves through the host alone";
  }
  for (LinkId id = 0; id < 162; ++id) {
    EXPECT_EQ(limited.node_name(limited.link(id).tail), torus.node_name(torus.link(id).tail) + ".out");
    EXPECT_EQ(limited.node_name(limited.link(id).head), torus.node_name(torus.link(id).head) + ".in");
  }
}

TEST(HostBandwidth, makes_the_torus_of_27_need_13_and_a_half_units) {
  // 1/F = 27/2 (Basu et al., 5.2): every host sends and forwards 6 + 2*12 + 3*8 = 54 shards over 4 units.
  const Topology limited = topology_of("torus:3x3x3/host-bandwidth:4");
  double hops = 0;
  for (NodeId source = 0; source < 27; ++source) {
    const std::vector<int> distances = distances_from(limited, source);
    for (NodeId target = 0; target < 27; ++target) hops += distances[static_cast<std::size_t>(target)] / 3.0;
  }
  EXPECT_DOUBLE_EQ(hops / (27 * 4), 13.5);
  EXPECT_DOUBLE_EQ(busiest_over_capacity(topology_of("torus:3x3x3")), 9);
}

TEST(HostBandwidth, counts_in_units_of_the_slowest_link) {
  const Topology ring = topology_of("ring:4/bandwidth:8Gbps/host-bandwidth:1.5");
  EXPECT_DOUBLE_EQ(ring.link(ring.links_out(0)[0]).bandwidth, 1.5e9);
}

TEST(Injection, leaves_forwarding_to_the_card) {
  const Topology limited = topology_of("ring:5/injection:1");
  EXPECT_EQ(limited.hosts(), 5);
  EXPECT_EQ(limited.switches(), 5);
  EXPECT_EQ(limited.node_name(5), "0.nic");
  EXPECT_EQ(distances_from(limited, 0)[2], 4) << "host, card, card, card, host";
  EXPECT_EQ(distances_from(topology_of("ring:5/host-bandwidth:1"), 0)[2], 6) << "through the host between";
  EXPECT_EQ(limited.links_out(0).size(), 1u);
}

TEST(Limits, refuse_what_is_no_number_of_links) {
  EXPECT_EQ(error_of("ring:4/host-bandwidth:x"),
            "ring:4/host-bandwidth:x: 'x' links; expected a number above 0, such as 4 or 2.5");
  EXPECT_THAT(error_of("ring:4/injection:0"), HasSubstr("'0' links; expected a number above 0"));
  EXPECT_THAT(error_of("ring:4/injection"), HasSubstr("'' links"));
  EXPECT_EQ(error_of("mesh:1/injection:2"), "mesh:1/injection:2: no links to limit; expected a topology that has some");
}

TEST(DropLinks, takes_cables_with_both_directions_and_keeps_hosts_connected) {
  const Topology torus = topology_of("torus:3x3x3/drop-links:20:7");
  EXPECT_EQ(torus.links().size(), 162u - 40u);
  EXPECT_TRUE(facts_of(torus).connected);
  EXPECT_TRUE(torus.sides().empty());
  std::multiset<std::pair<NodeId, NodeId>> ends;
  for (const Link& link : torus.links()) ends.emplace(link.tail, link.head);
  for (const Link& link : torus.links()) EXPECT_EQ(ends.count({link.head, link.tail}), 1u);
}

TEST(DropLinks, takes_single_links_where_nothing_comes_back) {
  EXPECT_EQ(topology_of("kautz:12:2/drop-links:2").links().size(), 22u);
}

TEST(DropLinks, leaves_a_tree_at_most) {
  EXPECT_EQ(topology_of("complete:6/drop-links:10").links().size(), 10u) << "15 cables, a tree has 5";
  EXPECT_EQ(
      error_of("complete:6/drop-links:11"),
      "complete:6/drop-links:11: only 10 of 15 cables could go, hosts need the rest to reach each other; expected "
      "fewer");
}

TEST(DropLinks, leaves_the_arrangement_of_a_grid) {
  EXPECT_THAT(topology_of("torus:3x4/drop-links:2").arrangement(), ElementsAre(3, 4));
  EXPECT_THAT(topology_of("hyperx:3x4/bandwidth:1Gbps").arrangement(), ElementsAre(3, 4));
  EXPECT_THAT(topology_of("torus:3x4/drop-hosts:2").arrangement(), ElementsAre());
}

TEST(DropLinks, zero_leaves_everything_as_it_was) {
  EXPECT_EQ(fingerprint(topology_of("torus:3x3/drop-links:0")), fingerprint(topology_of("torus:3x3")));
  EXPECT_THAT(topology_of("torus:3x3/drop-links:0").sides(), ElementsAre(3, 3));
}

TEST(DropLinks, is_the_same_everywhere_and_follows_its_seed) {
  // Fixed by std::mt19937_64 and our own draws: a change would break the networks that people have named.
  EXPECT_EQ(fingerprint(topology_of("torus:4x4/drop-links:3")), fingerprint(topology_of("torus:4x4/drop-links:3:1")));
  EXPECT_NE(fingerprint(topology_of("torus:4x4/drop-links:3:2")), fingerprint(topology_of("torus:4x4/drop-links:3:1")));
  EXPECT_EQ(fingerprint(topology_of("torus:4x4/drop-links:3:1")), "16h0s58l-7b00cb197258df8d");
  EXPECT_EQ(fingerprint(topology_of("torus:4x4/drop-hosts:3:1")), "13h0s42l-04e10d8998356194");
}

TEST(DropLinks, takes_cables_by_name) {
  const Topology ring = topology_of("ring:6/drop-links:2-3");
  EXPECT_EQ(ring.links().size(), 10u);
  EXPECT_EQ(distances_from(ring, 2)[3], 5);
  EXPECT_EQ(topology_of("torus:3x3/drop-links:0-1,4-5").links().size(), 32u);
  EXPECT_EQ(error_of("ring:6/drop-links:2-3,4-5"),
            "ring:6/drop-links:2-3,4-5: host 0 cannot reach host 3; every host must reach every other; cut off: 3, 4");
  EXPECT_EQ(error_of("ring:6/drop-links:2-4"),
            "ring:6/drop-links:2-4: no link between 2 and 4; expected the ends of a cable");
  EXPECT_EQ(error_of("ring:6/drop-links:2-9"),
            "ring:6/drop-links:2-9: cable '2-9' joins no two nodes; expected A-B, both names of nodes");
}

TEST(DropLinks, refuses_other_arguments) {
  for (const char* argument : {"x", "", "1:2:3", "1:", "1.5"})
    EXPECT_THAT(error_of(std::string("ring:6/drop-links:") + argument),
                HasSubstr("; expected K or K:SEED, whole numbers of 0 or more, or cables A-B,C-D by name"));
}

TEST(DropHosts, renumbers_the_rest_which_keep_their_names) {
  const Topology torus = topology_of("torus:3x3x3/drop-hosts:3:2");
  EXPECT_EQ(torus.hosts(), 24);
  EXPECT_TRUE(facts_of(torus).connected);
  const std::vector<std::string> names = host_names(torus);
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), 24u);
  EXPECT_NE(names.back(), "23");
  const Topology whole = topology_of("torus:3x3x3");
  for (const Link& link : torus.links()) {
    const int tail = std::stoi(torus.node_name(link.tail)), head = std::stoi(torus.node_name(link.head));
    EXPECT_EQ(distances_from(whole, tail)[static_cast<std::size_t>(head)], 1);
  }
}

TEST(DropHosts, by_name_are_those_of_without_hosts) {
  const Topology torus = topology_of("torus:3x3");
  const std::vector<std::string> gone{"4", "7"};
  const Topology rest = without_hosts(torus, gone);
  EXPECT_EQ(rest.name(), "torus:3x3/drop-hosts:=4,7");
  EXPECT_EQ(fingerprint(topology_of(rest.name())), fingerprint(rest));
  EXPECT_EQ(host_names(topology_of(rest.name())), (std::vector<std::string>{"0", "1", "2", "3", "5", "6", "8"}));
  EXPECT_THAT(error_of("torus:3x3/drop-hosts:=9"), HasSubstr("no host '9'; expected names of hosts"));
}

TEST(DropHosts, leaves_switches) {
  const Topology rest = topology_of("switch:5/drop-hosts:2");
  EXPECT_EQ(rest.hosts(), 3);
  EXPECT_EQ(rest.switches(), 1);
  EXPECT_EQ(rest.node_name(3), "s0");
}

TEST(DropHosts, refuses_what_leaves_nobody) {
  EXPECT_EQ(error_of("ring:6/drop-hosts:6"), "ring:6/drop-hosts:6: 6 of 6 hosts; expected fewer, so that one stays");
  EXPECT_THAT(error_of("ring:6/drop-hosts:-1"), HasSubstr("expected K or K:SEED"));
}

TEST(Without, links_and_hosts_go_by_name) {
  const Topology torus = topology_of("torus:3x3");
  const std::vector<std::string> cables{"0-1", "8-7"};
  const Topology cut = without_links(torus, cables);
  EXPECT_EQ(cut.name(), "torus:3x3/drop-links:0-1,8-7");
  EXPECT_EQ(cut.links().size(), 32u);
  const std::vector<std::string> hosts{"4", "8"};
  const Topology fewer = without_hosts(torus, hosts);
  EXPECT_THAT(host_names(fewer), ElementsAre("0", "1", "2", "3", "5", "6", "7"));
  EXPECT_THAT(error_from([&] { without_hosts(topology_of("mesh:3"), std::vector<std::string>{"1"}); }),
              HasSubstr("host 0 cannot reach host 2"));
  EXPECT_THAT(error_from([&] { without_hosts(topology_of("switch:3"), std::vector<std::string>{"s0"}); }),
              HasSubstr("no host 's0'; expected names of hosts"));
  EXPECT_THAT(error_from([&] {
                without_hosts(topology_of("ring:2"), std::vector<std::string>{"0", "1"});
              }),
              HasSubstr("no host remains"));
}

TEST(Without, names_may_contain_dashes) {
  TopologyBuilder builder("named", 3);
  builder.name_node(0, "gpu-0").name_node(1, "gpu-1").name_node(2, "gpu").cable(0, 1).cable(1, 2).cable(2, 0);
  const Topology topology = std::move(builder).build();
  EXPECT_EQ(without_links(topology, std::vector<std::string>{"gpu-0-gpu-1"}).links().size(), 4u);
  EXPECT_EQ(distances_from(without_links(topology, std::vector<std::string>{"gpu-gpu-0"}), 0)[2], 2);
}

TEST(ExpectConnected, names_two_hosts_in_the_direction_that_fails) {
  TopologyBuilder builder("one way", 3);
  builder.link(0, 1).link(1, 2).link(0, 2);
  const Topology topology = std::move(builder).build();
  EXPECT_EQ(error_from([&] { expect_connected(topology); }),
            "one way: host 1 cannot reach host 0; every host must reach every other; cut off: 1, 2");
  EXPECT_EQ(error_from([] { expect_connected(topology_of("kautz:9:2")); }), "");
  EXPECT_THAT(error_of("mesh:3/drop-hosts:3"), Not(HasSubstr("reach")));
}

}  // namespace
}  // namespace colltopo
