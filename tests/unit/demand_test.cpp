// Traffic of its own sizes: its files, its least time against values by hand, what a schedule's shares make of it.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "colltopo/algorithms.h"
#include "colltopo/chunking.h"
#include "colltopo/cost.h"
#include "colltopo/demand.h"
#include "colltopo/error.h"
#include "colltopo/synthesis.h"

namespace colltopo {
namespace {

using testing::HasSubstr;

Demand pairs(NodeId hosts, std::initializer_list<std::array<int, 3>> entries) {
  Demand demand(hosts);
  for (const auto& [source, target, bytes] : entries) demand.add(source, target, bytes);
  return demand;
}

FlowBound bound(const std::string& network, const Demand& demand, double gap = 1e-3) {
  SynthesisOptions options;
  options.gap = gap;
  return alltoallv_bound(topology_of(network), demand, options);
}

TEST(Demand, is_read_from_a_matrix_from_entries_and_from_matrix_market) {
  const Demand rows = read_demand("0,1,2\n3,0,4.5\n5,6,0\n", "rows", 3);
  const Demand entries =
      read_demand("source,target,bytes\n0,1,1\n0,2,2\n1,0,3\n1,2,4\n1,2,0.5\n2,0,5\n2,1,6\n", "entries", 3);
  const Demand market = read_demand(
      "%%MatrixMarket matrix coordinate real general\n% made\n3 3 6\n1 2 1\n1 3 2\n2 1 3\n2 3 4.5\n3 1 5\n3 2 6\n",
      "mm", 3);
  for (NodeId source = 0; source < 3; ++source)
    for (NodeId target = 0; target < 3; ++target) {
      EXPECT_EQ(rows.bytes(source, target), entries.bytes(source, target));
      EXPECT_EQ(rows.bytes(source, target), market.bytes(source, target));
    }
  EXPECT_DOUBLE_EQ(rows.total(), 21.5);
}

TEST(Demand, that_cannot_be_read_is_named_with_its_line) {
  const auto fault = [](const std::string& text) -> std::string {
    try {
      read_demand(text, "file", 3);
    } catch (const Error& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_THAT(fault(""), HasSubstr("file:1: is empty"));
  EXPECT_THAT(fault("0 1 2\n0 1\n"), HasSubstr("file:2: 2 numbers in row 2; expected 3 rows of 3"));
  EXPECT_THAT(fault("0 1 2\n0 1 2\n"), HasSubstr("ends after 2 rows; expected 3"));
  EXPECT_THAT(fault("0 1 2\n0 1 2\n0 1 2\n0 1 2\n"), HasSubstr("file:4: 3 numbers in row 4"));
  EXPECT_THAT(fault("0 1 2\n0 -1 2\n0 1 2\n"), HasSubstr("file:2: '-1'; expected bytes, a number of 0 or more"));
  EXPECT_THAT(fault("0 nan 2\n"), HasSubstr("'nan'; expected bytes"));
  EXPECT_THAT(fault("source,target,bytes\n0,3,1\n"), HasSubstr("file:2: '3'; expected a host, 0 to 2"));
  EXPECT_THAT(fault("source,target,bytes\n0,1\n"), HasSubstr("2 fields; expected 3"));
  EXPECT_THAT(fault("%%MatrixMarket matrix array real general\n"),
              HasSubstr("expected %%MatrixMarket matrix coordinate"));
  EXPECT_THAT(fault("%%MatrixMarket matrix coordinate real general\n4 4 1\n1 2 3\n"),
              HasSubstr("expected 3 rows and columns"));
  EXPECT_THAT(fault("0 0 0\n0 0 0\n0 0 7\n"), HasSubstr("no pair of hosts has bytes"));
}

// Half of it goes round each side of the ring.
TEST(AlltoallvBound, of_one_pair_uses_all_ways_between_its_hosts) {
  EXPECT_NEAR(bound("ring:4", pairs(4, {{0, 2, 100}})).time, 50, 0.1);
  EXPECT_NEAR(bound("complete:3", pairs(3, {{0, 1, 100}})).time, 50, 0.1);
}

// Nothing leaves host 0 of a cube but by its three links.
TEST(AlltoallvBound, of_a_hot_source_is_what_leaves_it) {
  const Demand hot = pairs(8, {{0, 1, 60}, {0, 3, 60}, {0, 7, 60}, {4, 5, 1}});
  const FlowBound found = bound("hypercube:3", hot);
  EXPECT_LE(found.time_lower, 60 + 1e-9);
  EXPECT_NEAR(found.time, 60, 0.1);
}

TEST(AlltoallvBound, of_equal_blocks_is_that_of_the_alltoall) {
  for (const std::string network : {"torus:3x3", "kautz:12:3", "fattree:4", "mesh:2x3"}) {
    const Topology topology = topology_of(network);
    Demand equal(topology.hosts());
    for (NodeId source = 0; source < topology.hosts(); ++source)
      for (NodeId target = 0; target < topology.hosts(); ++target) equal.add(source, target, 7);
    const FlowBound found = bound(network, equal), known = alltoall_bound(topology, {});
    EXPECT_LE(found.time_lower, 7 * known.time * (1 + 1e-9)) << network;
    EXPECT_GE(found.time, 7 * known.time_lower * (1 - 1e-9)) << network;
    EXPECT_LE(found.gap(), 1e-3) << network;
  }
}

TEST(AlltoallvBound, is_proved_by_its_lengths) {
  const Topology topology = topology_of("mesh:3x3");
  Demand demand(9);
  for (NodeId source = 0; source < 9; ++source)
    for (NodeId target = 0; target < 9; ++target) demand.add(source, target, (source * 7 + target * 5) % 11);
  const FlowBound found = bound("mesh:3x3", demand);
  EXPECT_NEAR(time_lower_bound(topology, demand, found.lengths), found.time_lower, 1e-9 * found.time_lower);
  double largest = 0;
  for (const double load : found.loads) largest = std::max(largest, load);
  EXPECT_DOUBLE_EQ(largest, found.time);
}

TEST(AlltoallvBound, needs_a_demand_of_the_networks_hosts) {
  EXPECT_THROW(bound("ring:5", pairs(4, {{0, 1, 1}})), Error);
}

// Skewed traffic with holes: the flow, its paths merged, in whole chunks, stays near the bound, and the pairs without
// traffic have a path all the same.
TEST(Mcf, for_a_demand_is_near_its_bound) {
  const RoutingMethod* const mcf = routing_method_named("mcf");
  for (const std::string network : {"torus:3x3x3", "bipartite:4:4", "mesh:3x4", "fattree:4"}) {
    const Topology topology = topology_of(network);
    Demand demand(topology.hosts());
    for (NodeId source = 0; source < topology.hosts(); ++source)
      for (NodeId target = 0; target < topology.hosts(); ++target)
        if (const int kind = (source * 13 + target * 7) % 10; kind > 2)
          demand.add(source, target, std::floor(1e6 / kind / kind));
    SynthesisOptions options;
    options.demand = &demand;
    const Synthesis made = mcf->make(topology, options);
    EXPECT_EQ(routing_fault(topology, made.routing), "") << network;
    EXPECT_NEAR(time_lower_bound(topology, demand, made.bound.lengths), made.bound.time_lower,
                1e-9 * made.bound.time_lower);
    const Chunked chunks = chunked(topology, made.routing, k_most_chunks_default, k_negligible_loss, &demand);
    const double time = all_to_all_time(topology, link_loads(topology, chunks.routing, demand));
    EXPECT_NEAR(chunks.time, time, 1e-9 * time) << network;
    EXPECT_LE(time, made.bound.time_lower * (1 + options.gap)) << network;
    EXPECT_EQ(routing_fault(topology, chunks.routing), "") << network;
  }
}

TEST(LinkLoads, of_a_schedule_are_its_shares_of_every_block) {
  const Schedule schedule = generate(*algorithm_named("pairwise"), {Collective::alltoall, 4, 1, 0}, {});
  const Topology complete = topology_of("complete:4");
  const Demand demand = pairs(4, {{0, 1, 5}, {2, 3, 9}});
  const std::vector<double> loads = link_loads(schedule, complete, demand);
  for (LinkId link = 0; link < static_cast<LinkId>(loads.size()); ++link)
    EXPECT_EQ(loads[static_cast<std::size_t>(link)], demand.bytes(complete.link(link).tail, complete.link(link).head));
  const Schedule bruck = generate(*algorithm_named("tra"), {Collective::alltoall, 8, 1, 0}, {});
  EXPECT_THROW(link_loads(bruck, topology_of("complete:8"), Demand(8)), Error);
}

}  // namespace
}  // namespace colltopo
