// Loads and faults of a routing; the dual bound.
#include <gmock/gmock.h>

#include "colltopo/routing.h"

namespace colltopo {
namespace {

using testing::DoubleEq;
using testing::Each;
using testing::HasSubstr;

Routing shortest_routing(const Topology& topology) {
  const ShortestPaths shortest(topology);
  Routing routing(topology.hosts());
  for (NodeId source = 0; source < topology.hosts(); ++source)
    for (NodeId target = 0; target < topology.hosts(); ++target)
      if (source != target) routing.add(source, target, 1, shortest.path(source, target));
  return routing;
}

TEST(Routing, dimension_order_loads_a_torus_evenly) {
  const Topology torus = topology_of("torus:4x4");
  const Routing routing = shortest_routing(torus);
  EXPECT_EQ(routing_fault(torus, routing), "");
  const std::vector<double> loads = link_loads(torus, routing);
  EXPECT_THAT(loads, Each(DoubleEq(8)));
  EXPECT_DOUBLE_EQ(all_to_all_time(torus, loads), 8);
}

TEST(Routing, capacities_count_from_the_slowest_link) {
  TopologyBuilder builder("two speeds", 2);
  builder.link(0, 1, 5e9).link(1, 0, 1e9);
  EXPECT_THAT(capacities(std::move(builder).build()), testing::ElementsAre(5, 1));
}

TEST(Routing, faults_are_named) {
  const Topology ring = topology_of("ring:3");
  Routing routing(3);
  EXPECT_THAT(routing_fault(ring, routing), HasSubstr("0 to 1: weights sum to 0"));
  routing.add(0, 1, 1, ShortestPaths(ring).path(0, 2));
  EXPECT_THAT(routing_fault(ring, routing), HasSubstr("0 to 1: it ends at 2"));
}

TEST(TimeLowerBound, of_equal_lengths_is_the_distance_bound) {
  EXPECT_NEAR(time_lower_bound(topology_of("torus:3x3x3"), std::vector<double>(162, 1.0)), 9, 1e-12);
  EXPECT_NEAR(time_lower_bound(topology_of("torus:8x8"), std::vector<double>(256, 0.25), 2), 64, 1e-12);
}

TEST(TimeLowerBound, of_a_network_in_two_parts_is_an_error) {
  TopologyBuilder builder("two parts", 3);
  builder.cable(0, 1);
  const Topology parts = std::move(builder).build();
  EXPECT_THROW(time_lower_bound(parts, std::vector<double>(2, 1.0)), std::exception);
}

}  // namespace
}  // namespace colltopo
