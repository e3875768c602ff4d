// Routings lowered to schedules: proved, run, and as heavy on every link as the flow.
#include <algorithm>

#include <gmock/gmock.h>

#include "colltopo/cost.h"
#include "colltopo/error.h"
#include "colltopo/routed.h"
#include "networks.h"
#include "schedules.h"

namespace colltopo {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pointwise;
using testing::ThrowsMessage;

std::vector<std::string> misfits(const Schedule& schedule, const Topology& topology) {
  std::vector<std::string> texts;
  for (const Violation& violation : verify_on(schedule, topology)) texts.push_back(to_string(violation));
  return texts;
}

TEST(RoutedAlltoall, random_routings_on_random_networks_are_proved_and_run) {
  for (std::uint32_t seed = 1; seed <= 12; ++seed) {
    const Topology topology = random_network(seed, 2 + static_cast<NodeId>(seed % 7), static_cast<NodeId>(seed % 3));
    const Chunked chunks = chunked(topology, random_routing(topology, seed, 3), 8);
    const auto layers = layers_of(topology, chunks.routing, LayerMethod::lash_sequential);
    const Schedule schedule = routed_alltoall("random", topology, chunks, layers);
    EXPECT_THAT(schedule, Verifies());
    EXPECT_THAT(misfits(schedule, topology), IsEmpty());
    EXPECT_TRUE(verify(schedule).stepped);
    EXPECT_THAT(link_loads(schedule, topology),
                Pointwise(testing::DoubleNear(1e-9), link_loads(topology, chunks.routing)));
    Trial trial;
    trial.seed = seed;
    trial.count = seed % 2 == 0 ? 13 : 3;  // fewer elements than chunks: some have none
    trial.protocol = seed % 3 == 0 ? Protocol::eager : Protocol::rendezvous;
    EXPECT_TRUE(runs_right(schedule, trial));
    trial.segments = 2;
    EXPECT_TRUE(runs_right(schedule, trial));
  }
}

TEST(RoutedAlltoall, lanes_are_the_paths_of_a_pair_and_carry_their_chunks_in_order) {
  TopologyBuilder builder("two cables", 2);
  builder.cable(0, 1).cable(0, 1);
  const Topology cables = std::move(builder).build();
  Chunked chunks{3, Routing(2), 0, 0};
  chunks.routing.add(0, 1, 1.0 / 3, std::vector<LinkId>{0});
  chunks.routing.add(0, 1, 2.0 / 3, std::vector<LinkId>{2});
  chunks.routing.add(1, 0, 1, std::vector<LinkId>{3});
  const Schedule schedule = routed_alltoall("by hand", cables, chunks, std::vector<std::int32_t>{0, 1, 0});
  ASSERT_EQ(schedule.routes.size(), 3U);
  EXPECT_EQ(schedule.routes[1], (Route{0, 1, 1, 1, {2}}));
  const Program& first = schedule.programs[0];
  ASSERT_EQ(first.size(), 4U);  // copy, send, send, recv
  EXPECT_EQ(first.op(1).source[0], (colltopo::Run{Buffer::input, 3, 1}));
  EXPECT_EQ(first.op(2).source[0], (colltopo::Run{Buffer::input, 4, 2}));
  EXPECT_EQ(first.op(2).lane, 1);
  EXPECT_EQ(first.scratch(), 0);
}

TEST(RoutedAlltoall, peers_are_served_by_distance) {
  const Topology ring = topology_of("ring:5");
  const Schedule schedule = routed_alltoall("ring", ring, chunked(ring, shortest_routing(ring)));
  for (const Program& program : schedule.programs) {
    Rank distance = 0;
    for (std::size_t i = 0; i < program.size(); ++i) {
      const Op op = program.op(i);
      if (op.action == Action::send) {
        EXPECT_EQ((op.peer - program.rank() + 5) % 5, ++distance);
      }
    }
  }
}

TEST(RoutedAlltoall, ranks_are_the_hosts_of_a_network_with_switches) {
  const Topology star = topology_of("switch:6");
  const Schedule schedule = routed_alltoall("star", star, chunked(star, shortest_routing(star)));
  EXPECT_EQ(schedule.shape.ranks, 6);
  EXPECT_THAT(schedule, Verifies());
  EXPECT_THAT(misfits(schedule, star), IsEmpty());
  EXPECT_DOUBLE_EQ(cost_of(schedule, star).busiest_link_s_per_byte * k_default_bandwidth, 5);
}

TEST(RoutedAlltoall, costs_what_the_flow_takes) {
  const Topology torus = topology_of("torus:3x3x3");
  const Chunked chunks = chunked(torus, shortest_routing(torus));
  const Cost cost = cost_of(routed_alltoall("torus", torus, chunks), torus);
  EXPECT_NEAR(cost.busiest_link_s_per_byte * k_default_bandwidth, chunks.time, 1e-9);
  EXPECT_NEAR(model_seconds(cost, 1e9, 0), cost.busiest_link_s_per_byte * 1e9, 1e-4);  // one step: all paths at once
}

TEST(RoutingOf, is_the_opposite_of_lowering) {
  const Topology topology = random_network(5, 7, 1);
  const Chunked chunks = chunked(topology, random_routing(topology, 5, 3), 8);
  const Routing back = routing_of(routed_alltoall("random", topology, chunks));
  ASSERT_EQ(back.paths(), chunks.routing.paths());
  for (std::size_t i = 0; i < back.paths(); ++i) {
    EXPECT_EQ(back.path(i).source, chunks.routing.path(i).source);
    EXPECT_NEAR(back.path(i).weight, chunks.routing.path(i).weight, 1e-12);
    EXPECT_TRUE(std::ranges::equal(back.path(i).links, chunks.routing.path(i).links));
  }
}

TEST(RoutedAlltoall, in_a_window_every_flow_arrives) {
  const Topology topology = random_network(6, 9, 2);
  const Schedule schedule = routed_alltoall("random", topology, chunked(topology, random_routing(topology, 6, 3), 8));
  for (const std::uint32_t window : {1, 2, 7})
    for (const Protocol protocol : {Protocol::eager, Protocol::rendezvous})
      EXPECT_TRUE(runs_right(schedule, {.count = 100,
                                        .segments = 9,
                                        .order = SegmentOrder::slot_by_slot,
                                        .window = window,
                                        .independent = true,
                                        .protocol = protocol}));
}

TEST(RoutingOf, a_schedule_without_routes_says_what_is_missing) {
  const Topology ring = topology_of("ring:4");
  Schedule schedule = routed_alltoall("ring", ring, chunked(ring, shortest_routing(ring)));
  schedule.routes.erase(schedule.routes.begin() + 1);
  EXPECT_THAT([&] { routing_of(schedule); }, ThrowsMessage<Error>(HasSubstr("no route from 0 to 2 on lane 0")));
}

TEST(RoutedAlltoall, of_other_hosts_is_refused) {
  EXPECT_THAT(
      [] {
        routed_alltoall("x", topology_of("ring:4"), Chunked{1, Routing(3), 0, 0});
      },
      ThrowsMessage<Error>(HasSubstr("a routing of 3 hosts; expected 4")));
}

}  // namespace
}  // namespace colltopo
