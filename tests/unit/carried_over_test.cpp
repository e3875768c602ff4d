// Routings carried over to networks in which something broke.
#include <gmock/gmock.h>

#include "networks.h"

namespace colltopo {
namespace {

TEST(CarriedOver, paths_that_are_whole_stay_and_others_are_replaced) {
  const Topology torus = topology_of("torus:4x4");
  const Routing routing = random_routing(torus, 3, 2);
  const Topology left =
      without_links(without_hosts(torus, std::vector<std::string>{"7"}), std::vector<std::string>{"0-1"});
  const Routing carried = carried_over(torus, routing, left);
  EXPECT_EQ(routing_fault(left, carried), "");
  EXPECT_EQ(carried.hosts(), 15);
}

TEST(CarriedOver, to_the_same_network_changes_nothing) {
  const Topology topology = random_network(4, 8, 2);
  const Routing routing = random_routing(topology, 4, 3);
  const Routing carried = carried_over(topology, routing, topology);
  EXPECT_EQ(carried.paths(), routing.paths());
  EXPECT_EQ(link_loads(topology, carried), link_loads(topology, routing));
}

TEST(CarriedOver, to_a_network_with_hosts_in_another_order_follows_the_names) {
  TopologyBuilder turned("turned", 4);
  for (NodeId host = 0; host < 4; ++host) turned.name_node(host, std::to_string(3 - host));
  for (NodeId host = 0; host < 4; ++host) turned.cable(host, (host + 1) % 4);
  const Topology after = std::move(turned).build();
  const Topology before = topology_of("ring:4");
  const Routing carried = carried_over(before, random_routing(before, 1, 2), after);
  EXPECT_EQ(routing_fault(after, carried), "");
}

}  // namespace
}  // namespace colltopo
