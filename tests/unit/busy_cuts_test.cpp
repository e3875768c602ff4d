// Cuts that the busiest links of a flow make.
#include <algorithm>

#include <gtest/gtest.h>

#include "colltopo/routing.h"
#include "synthesis/sweep/busy_cuts.h"

namespace colltopo {

using namespace synthesis;
namespace {

/// Cliques of four hosts in a line, neighbours joined by one cable.
Topology cliques(int count, int lonely_switches = 0) {
  TopologyBuilder builder("cliques", 4 * count, lonely_switches);
  for (NodeId first = 0; first < 4 * count; first += 4) {
    for (NodeId a = first; a < first + 4; ++a)
      for (NodeId b = a + 1; b < first + 4; ++b) builder.cable(a, b);
    if (first > 0) builder.cable(first - 1, first);
  }
  return std::move(builder).build();
}

/// [class] by the shortest paths.
std::vector<double> shortest_loads(const Topology& topology) {
  const ShortestPaths shortest(topology);
  Routing routing(topology.hosts());
  for (NodeId source = 0; source < topology.hosts(); ++source)
    for (NodeId target = 0; target < topology.hosts(); ++target)
      if (source != target) routing.add(source, target, 1, shortest.path(source, target));
  return link_loads(topology, routing);
}

TEST(BestCut, is_the_cable_between_two_cliques) {
  const Topology topology = cliques(2);
  const FlowInstance instance = whole_instance(topology);
  const auto [lengths, time_lower] = best_cut(instance, shortest_loads(topology), 1, 16.5);
  EXPECT_NEAR(time_lower, 4 * 4, 1e-9);
  ASSERT_EQ(lengths.size(), topology.links().size());
  for (std::size_t link = 0; link < lengths.size(); ++link) {
    const Link& ends = topology.link(static_cast<LinkId>(link));
    EXPECT_EQ(lengths[link] > 0, ends.tail / 4 != ends.head / 4) << ends.tail << " - " << ends.head;
  }
  EXPECT_NEAR(time_lower_bound(topology, lengths), 4 * 4, 1e-9);
}

TEST(BestCut, is_several_where_these_are_equally_busy) {
  const Topology topology = cliques(3);
  const auto [lengths, time_lower] = best_cut(whole_instance(topology), shortest_loads(topology), 1, 33);
  EXPECT_NEAR(time_lower, 4 * 8, 1e-9);
  EXPECT_NEAR(time_lower_bound(topology, lengths), 4 * 8, 1e-9);
  EXPECT_EQ(std::count_if(lengths.begin(), lengths.end(), [](double length) { return length > 0; }), 4);
}

TEST(BestCut, is_found_beside_a_switch_that_lost_its_links) {
  const Topology topology = cliques(2, 1);
  const std::vector<double> lengths = best_cut(whole_instance(topology), shortest_loads(topology), 1, 16.5).lengths;
  ASSERT_FALSE(lengths.empty());
  EXPECT_NEAR(time_lower_bound(topology, lengths), 4 * 4, 1e-9);
}

TEST(BestCut, is_none_where_no_cut_proves_more_than_is_known) {
  const Topology topology = cliques(2);
  EXPECT_TRUE(best_cut(whole_instance(topology), shortest_loads(topology), 16, 16.5).lengths.empty());
}

}  // namespace
}  // namespace colltopo
