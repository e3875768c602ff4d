// Trees and rings on small networks drawn by hand.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "clusters.h"
#include "colltopo/cost.h"
#include "colltopo/rings.h"
#include "errors.h"
#include "schedules.h"

namespace colltopo {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

SpanningTree tree_of(const Topology& topology) { return spanning_tree(topology, TreeSearch::breadth_first); }

/// A tree over switches in a row, rooted at the first.
Topology row_of_switches(int switches, int machines_on_each) {
  std::vector<std::pair<int, int>> cables;
  for (int at = 1; at < switches; ++at) cables.emplace_back(at - 1, at);
  return cluster(std::vector<int>(static_cast<std::size_t>(switches), machines_on_each), cables);
}

SpanningTree tree_rooted_at(const Topology& topology, NodeId node) {
  for (std::uint64_t seed = 1;; ++seed) {
    SpanningTree tree = spanning_tree(topology, TreeSearch::breadth_first, seed);
    if (tree.switches.front().node == node) return tree;
  }
}

TEST(SpanningTree, switches_are_numbered_by_a_depth_first_walk) {
  const Topology topology = cluster({1, 1, 1, 1}, {{0, 1}, {0, 3}, {1, 2}});
  const SpanningTree tree = tree_rooted_at(topology, 4);
  ASSERT_EQ(tree.switches.size(), 4u);
  EXPECT_EQ(tree.switches[2].node, 6);
  EXPECT_EQ(tree.switches[2].parent, 1);
  EXPECT_THAT(tree.switches[0].children, ElementsAre(1, 3));
  EXPECT_EQ(tree.path_length(2, 3), 4);
  EXPECT_EQ(tree.path(2, 3).size(), 5u);
}

TEST(SpanningTree, switches_without_machines_behind_them_are_left_out) {
  const Topology topology = cluster({2, 0, 0, 1}, {{0, 1}, {1, 2}, {0, 3}});
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const SpanningTree tree = spanning_tree(topology, TreeSearch::random, seed);
    EXPECT_EQ(tree.switches.size(), 2u) << seed;
    EXPECT_EQ(tree.path_length(0, 2), 2) << seed;
  }
}

TEST(SpanningTree, hosts_stay_leaves_where_switches_are_joined_without_them) {
  // Every host on two switches, as in clusters with two rails.
  TopologyBuilder builder("rails", 3, 3);
  for (NodeId host = 0; host < 3; ++host) builder.cable(host, 3).cable(host, 4);
  const Topology topology = std::move(builder.cable(3, 5).cable(5, 4)).build();
  for (const TreeSearch search : {TreeSearch::breadth_first, TreeSearch::depth_first, TreeSearch::random}) {
    const SpanningTree tree = spanning_tree(topology, search, 3);
    for (const TreeSwitch& own : tree.switches) EXPECT_FALSE(topology.is_host(own.node));
  }
}

TEST(SpanningTree, hosts_forward_where_nothing_else_joins_them) {
  const SpanningTree line = tree_of(topology_of("mesh:4"));
  ASSERT_EQ(line.switches.size(), 4u);
  EXPECT_EQ(line.path_length(0, 3), 4);
  EXPECT_EQ(line.path(0, 3).size(), 3u);
  // Two boxes that only their GPUs connect.
  const Topology boxes = topology_of("dgx-a100:2");
  EXPECT_EQ(facts_of(tree_of(boxes), lr1_order(boxes, tree_of(boxes))).most_uses_of_a_link, 1);
}

TEST(SpanningTree, refuses_networks_that_cables_do_not_join) {
  EXPECT_THAT(error_from([] { tree_of(topology_of("kautz:8:2")); }), HasSubstr("a spanning tree needs links in both"));
}

TEST(SpanningTree, searches_differ_in_height) {
  const Topology topology = topology_of("torus:8x8");
  const auto height = [&](TreeSearch search) {
    std::int32_t most = 0;
    for (const TreeSwitch& own : spanning_tree(topology, search).switches) most = std::max(most, own.depth);
    return most;
  };
  EXPECT_EQ(height(TreeSearch::breadth_first), 8);
  EXPECT_EQ(height(TreeSearch::depth_first), 63);
  EXPECT_GT(height(TreeSearch::random), 8);
}

// Figure 5: eight machines on four switches in a row.
TEST(Rings, figure_5_has_4_hops_by_algorithm_1_and_2_by_algorithm_2) {
  const Topology topology = row_of_switches(4, 2);
  const SpanningTree tree = tree_rooted_at(topology, 8);
  const std::vector<Rank> walked = lr1_order(topology, tree);
  EXPECT_THAT(walked, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_EQ(facts_of(tree, walked).longest_path, 4);
  EXPECT_EQ(tree.path_length(7, 0), 4);
  const std::vector<Rank> short_paths = lr2_order(topology, tree);
  EXPECT_THAT(short_paths, ElementsAre(0, 2, 4, 6, 7, 5, 3, 1));
  EXPECT_EQ(facts_of(tree, short_paths).longest_path, 2);
  EXPECT_EQ(facts_of(tree, lr3_order(topology, tree)).longest_path, 2);
}

TEST(Rings, machines_of_one_switch_are_one_hop_apart) {
  const Topology topology = topology_of("switch:5");
  const SpanningTree tree = tree_of(topology);
  for (const RingMethod& method : ring_methods())
    EXPECT_EQ(facts_of(tree, method.order(topology, tree)).longest_path, 1) << method.name;
}

TEST(Rings, one_machine_and_two_are_rings) {
  const Topology alone = topology_of("switch:1");
  const Topology two = topology_of("ring:2");
  for (const RingMethod& method : ring_methods()) {
    EXPECT_THAT(method.order(alone, tree_of(alone)), ElementsAre(0)) << method.name;
    EXPECT_EQ(facts_of(tree_of(two), method.order(two, tree_of(two))).longest_path, 2) << method.name;
  }
}

TEST(Rings, the_switch_that_forbids_two_hops_is_named) {
  const Topology star = cluster({1, 2, 2}, {{0, 1}, {0, 2}});
  const SpanningTree tree = tree_of(star);
  EXPECT_EQ(tree.switches[static_cast<std::size_t>(two_hop_obstacle(tree).value())].node, 5);
  EXPECT_THAT(error_from([&] { lr2_order(star, tree); }),
              HasSubstr("switch s0 has 1 machines and 2 switches beside it; a 2-hop ring needs at least"));
  EXPECT_EQ(facts_of(tree, lr3_order(star, tree)).longest_path, 3);
  EXPECT_EQ(two_hop_obstacle(tree_of(cluster({2, 2, 2}, {{0, 1}, {0, 2}}))), std::nullopt);
}

TEST(Rings, a_long_way_without_machines_cannot_be_shortened) {
  const Topology ends = cluster({2, 0, 0, 0, 0, 0, 2}, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}});
  EXPECT_EQ(facts_of(tree_of(ends), lr3_order(ends, tree_of(ends))).longest_path, 7);
}

TEST(Rings, tall_trees_do_not_exhaust_the_stack) {
  const Topology row = row_of_switches(20000, 1);
  const SpanningTree tree = tree_of(row);
  EXPECT_EQ(facts_of(tree, lr3_order(row, tree)).longest_path, 3);
}

TEST(Rings, a_link_used_twice_is_counted) {
  const Topology topology = row_of_switches(2, 2);
  const RingFacts facts = facts_of(tree_of(topology), std::vector<Rank>{0, 2, 1, 3});
  EXPECT_EQ(facts.most_uses_of_a_link, 2);
  EXPECT_FALSE(facts.contention_free());
}

class RingSchedules : public testing::TestWithParam<const char*> {};

TEST_P(RingSchedules, are_proved_run_right_and_load_no_link_twice_in_a_step) {
  const Topology topology = topology_of(GetParam());
  for (const TreeSearch search : {TreeSearch::breadth_first, TreeSearch::depth_first, TreeSearch::random}) {
    const SpanningTree tree = spanning_tree(topology, search, 2);
    for (const Collective collective : {Collective::allgather, Collective::reduce_scatter, Collective::allreduce}) {
      const Schedule schedule = ring_schedule("lr3", collective, topology, tree, lr3_order(topology, tree));
      EXPECT_THAT(verify_on(schedule, topology), IsEmpty());
      EXPECT_TRUE(runs_right_every_way(schedule));
      for (const StepCost& step : cost_of(schedule, topology).steps) {
        EXPECT_EQ(step.most_messages_on_a_link, 1u);
        EXPECT_EQ(step.messages, static_cast<std::size_t>(topology.hosts()));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Networks, RingSchedules,
                         testing::Values("ring:2", "switch:5", "torus:3x3", "fattree:4", "dgx-a100:2", "ring:4/ranks:3",
                                         "torus:2x3/ranks:2,1,0,2,1,1"));

TEST(RingSchedule, refuses_other_collectives) {
  const Topology topology = topology_of("switch:4");
  const SpanningTree tree = tree_of(topology);
  EXPECT_EQ(error_from([&] { ring_schedule("lr1", Collective::alltoall, topology, tree, lr1_order(topology, tree)); }),
            "lr1 does not do alltoall; it does: allgather reduce_scatter allreduce");
}

}  // namespace
}  // namespace colltopo
