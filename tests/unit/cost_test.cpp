// Loads, costs and bounds against values worked out by hand, and schedules that do not fit their topology.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "colltopo/cost.h"
#include "colltopo/error.h"

namespace colltopo {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr double k_link = k_default_bandwidth;

/// Every rank sends each shard straight to its owner, all in one step.
Schedule direct_alltoall(Rank ranks) {
  const Shape shape{Collective::alltoall, ranks, 1};
  return schedule_of("direct", shape, [&](Rank rank) {
    ProgramBuilder program(shape, rank);
    program.copy({{Buffer::input, rank, 1}}, {{Buffer::output, rank, 1}}).step(1);
    for (Rank peer = 0; peer < ranks; ++peer) {
      if (peer == rank) continue;
      program.send({{Buffer::input, peer, 1}}, peer);
      program.recv({{Buffer::output, peer, 1}}, peer);
    }
    return std::move(program).build();
  });
}

/// Each rank forwards to the next what it received last; chunks per shard as given.
Schedule ring_allgather(Rank ranks, Chunk chunks) {
  const Shape shape{Collective::allgather, ranks, chunks};
  return schedule_of("ring", shape, [&](Rank rank) {
    const auto block = [&](Rank behind) {
      return Run{Buffer::output, ((rank - behind + ranks) % ranks) * chunks, chunks};
    };
    ProgramBuilder program(shape, rank);
    program.copy({{Buffer::input, 0, chunks}}, {block(0)});
    for (Step step = 1; step < ranks; ++step) {
      program.step(step);
      program.send({block(step - 1)}, (rank + 1) % ranks);
      program.recv({block(step)}, (rank + ranks - 1) % ranks);
    }
    return std::move(program).build();
  });
}

TEST(Cost, messages_are_listed_by_step) {
  EXPECT_THAT(messages_of(ring_allgather(3, 2)),
              ElementsAre(Message{1, 0, 1, 0, 2}, Message{1, 1, 2, 0, 2}, Message{1, 2, 0, 0, 2},
                          Message{2, 0, 1, 0, 2}, Message{2, 1, 2, 0, 2}, Message{2, 2, 0, 0, 2}));
}

TEST(Cost, ring_allgather_loads_one_direction) {
  const Topology ring = topology_of("ring:5");
  const std::vector<double> loads = link_loads(ring_allgather(5, 3), ring);
  for (std::size_t i = 0; i < loads.size(); ++i) {
    const Link& link = ring.links()[i];
    EXPECT_DOUBLE_EQ(loads[i], (link.tail + 1) % 5 == link.head ? 4 : 0) << ring.link_name(static_cast<LinkId>(i));
  }
  EXPECT_EQ(link_loads(ring_allgather(5, 3), ring, 2)[0], 1);
}

TEST(Cost, direct_alltoall_on_the_27_host_torus_reaches_the_bound_of_9) {
  // Basu et al.: F = 1/9 on the 3x3x3 torus, so 9 shards over the busiest link at best.
  const Topology torus = topology_of("torus:3x3x3");
  const Cost cost = cost_of(direct_alltoall(27), torus);
  EXPECT_DOUBLE_EQ(cost.busiest_link_s_per_byte * k_link, 9);
  EXPECT_NEAR(bandwidth_bound({Collective::alltoall, 27, 1}, torus).seconds_per_byte * k_link, 9, 1e-12);
  EXPECT_EQ(cost.messages, 27u * 26u);
  EXPECT_FALSE(cost.neighbours_only);
}

TEST(Cost, alltoall_bounds_of_known_graphs) {
  const auto bound = [](const char* spec) {
    const Topology topology = topology_of(spec);
    return bandwidth_bound({Collective::alltoall, topology.hosts(), 1}, topology).seconds_per_byte * k_link;
  };
  EXPECT_NEAR(bound("torus:8x8"), 64, 1e-9);  // F = 1/64
  EXPECT_NEAR(bound("complete:8"), 1, 1e-12);
  EXPECT_NEAR(bound("switch:8"), 7, 1e-12);
  EXPECT_NEAR(bound("hypercube:3"), 4, 1e-12);
  EXPECT_NEAR(bound("mesh:4"), 4, 1e-12);  // 2 x 2 pairs over the middle link
}

TEST(Cost, bounds_of_the_other_collectives) {
  const auto bound = [](Collective collective, const char* spec, Rank root = 0) {
    const Topology topology = topology_of(spec);
    return bandwidth_bound({collective, topology.hosts(), 1, root}, topology).seconds_per_byte * k_link;
  };
  EXPECT_NEAR(bound(Collective::allgather, "ring:5"), 2, 1e-12);  // 4 shards into a host by 2 links
  EXPECT_NEAR(bound(Collective::reduce_scatter, "ring:5"), 2, 1e-12);
  EXPECT_NEAR(bound(Collective::allreduce, "switch:4"), 2 * 3.0 / 4, 1e-12);  // Patarasuk and Yuan: 2 (P - 1) / P
  EXPECT_NEAR(bound(Collective::allreduce, "mesh:4"), 1, 1e-12);
  EXPECT_NEAR(bound(Collective::bcast, "mesh:3", 1), 1, 1e-12);
  EXPECT_NEAR(bound(Collective::reduce, "ring:4", 2), 0.5, 1e-12);
}

TEST(Cost, one_way_cuts_bound_rooted_collectives_in_their_direction) {
  TopologyBuilder builder("slow uplink", 2);
  builder.link(0, 1, 4 * k_link).link(1, 0, k_link);
  const Topology topology = std::move(builder).build();
  EXPECT_NEAR(bandwidth_bound({Collective::bcast, 2, 1, 0}, topology).seconds_per_byte * k_link, 0.25, 1e-12);
  EXPECT_NEAR(bandwidth_bound({Collective::bcast, 2, 1, 1}, topology).seconds_per_byte * k_link, 1, 1e-12);
  EXPECT_NEAR(bandwidth_bound({Collective::reduce, 2, 1, 0}, topology).seconds_per_byte * k_link, 1, 1e-12);
}

TEST(Cost, seconds_add_overhead_latency_and_transfer_step_by_step) {
  const Cost cost = cost_of(ring_allgather(4, 1), topology_of("ring:4/bandwidth:1GBps/latency:2us"));
  ASSERT_EQ(cost.steps.size(), 3u);
  EXPECT_EQ(cost.steps[0].most_messages_of_a_rank, 1u);
  EXPECT_EQ(cost.steps[0].most_messages_on_a_link, 1u);
  EXPECT_TRUE(cost.neighbours_only);
  EXPECT_NEAR(model_seconds(cost, 1e6, 5e-6), 3 * (5e-6 + 2e-6 + 1e-3), 1e-12);
}

TEST(Cost, contention_within_a_step_is_counted) {
  // Host 0 of a line sends to 1, 2 and 3: all by its only link.
  const Cost cost = cost_of(direct_alltoall(4), topology_of("mesh:4"));
  EXPECT_EQ(cost.steps.at(0).most_messages_on_a_link, 4u);  // 0,1 to 2,3 over the middle
  EXPECT_EQ(cost.steps.at(0).most_messages_of_a_rank, 3u);
}

TEST(VerifyOn, a_schedule_without_routes_fits_any_connected_topology_of_its_size) {
  EXPECT_THAT(verify_on(direct_alltoall(8), topology_of("hypercube:3")), IsEmpty());
  EXPECT_THAT(verify_on(direct_alltoall(8), topology_of("ring:7")).at(0).what,
              HasSubstr("8 ranks; ring:7 has 7 hosts"));
  EXPECT_THROW(cost_of(direct_alltoall(8), topology_of("ring:7")), Error);

  TopologyBuilder builder("one way", 2);
  builder.link(0, 1);
  const std::vector<Violation> found = verify_on(direct_alltoall(2), std::move(builder).build());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].rank, 1);
  EXPECT_THAT(found[0].what, HasSubstr("no path to 0"));
}

/// Routes of the network's own paths for every pair.
Schedule routed(Schedule schedule, const Topology& topology) {
  const ShortestPaths paths(topology);
  for (Rank source = 0; source < topology.hosts(); ++source)
    for (Rank target = 0; target < topology.hosts(); ++target)
      if (source != target) schedule.routes.push_back({source, target, 0, 0, paths.path(source, target)});
  return schedule;
}

TEST(VerifyOn, routes_belong_to_the_topology_they_were_made_for) {
  const Topology line = topology_of("mesh:4");
  Schedule schedule = routed(direct_alltoall(4), line);
  schedule.topology = fingerprint(line);
  EXPECT_THAT(verify_on(schedule, topology_of("mesh:4/bandwidth:10Gbps")), IsEmpty());
  EXPECT_THAT(verify_on(schedule, topology_of("ring:4")).at(0).what,
              HasSubstr("its routes are those of topology 4h0s6l-"));
  schedule.routes.clear();
  EXPECT_THAT(verify_on(schedule, topology_of("ring:4")), IsEmpty());
}

TEST(VerifyOn, routes_must_follow_links) {
  const Topology mesh = topology_of("mesh:2x3");
  const Schedule good = routed(direct_alltoall(6), mesh);
  EXPECT_THAT(verify_on(good, mesh), IsEmpty());
  EXPECT_EQ(link_loads(good, mesh), link_loads(direct_alltoall(6), mesh));

  Schedule cut_short = good;
  cut_short.routes[4].links.pop_back();  // 0 to 5
  EXPECT_THAT(verify_on(cut_short, mesh).at(0).what, HasSubstr("route to 5 on lane 0 ends at"));
  Schedule jumping = good;
  jumping.routes[4].links.erase(jumping.routes[4].links.begin());
  EXPECT_THAT(verify_on(jumping, mesh).at(0).what, HasSubstr("links must follow each other"));
  Schedule off = good;
  off.routes[4].links[0] = 999;
  EXPECT_THAT(verify_on(off, mesh).at(0).what, HasSubstr("takes link 999"));
  EXPECT_THROW(cost_of(off, mesh), Error);
  Schedule missing = good;
  missing.routes.erase(missing.routes.begin());
  EXPECT_THAT(verify_on(missing, mesh).at(0).what, HasSubstr("no route to 1 on lane 0"));
  EXPECT_THROW(cost_of(missing, mesh), Error);
}

TEST(VerifyOn, dimension_order_deadlocks_on_a_ring_and_not_on_a_mesh) {
  const Topology ring = topology_of("ring:5");
  Schedule schedule = routed(direct_alltoall(5), ring);
  const std::vector<Violation> found = verify_on(schedule, ring);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(found[0].what, HasSubstr("layer 0: routes wait for each other in a cycle"));
  // Routes that pass the cable between 4 and 0 go to a layer of their own: no cycle is left.
  for (Route& route : schedule.routes)
    for (const LinkId id : route.links)
      if (ring.link(id).tail + ring.link(id).head == 4 && ring.link(id).tail * ring.link(id).head == 0) route.layer = 1;
  EXPECT_THAT(verify_on(schedule, ring), IsEmpty());
}

}  // namespace
}  // namespace colltopo
