// Flows against cuts: on small random networks the largest flow is the narrowest of all cuts.
#include "forest/max_flow.h"
#include "forest/least_cut.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

namespace colltopo {
namespace {

std::vector<CapacityEdge> random_edges(NodeId nodes, std::mt19937& random) {
  std::vector<CapacityEdge> edges;
  const auto count = nodes + static_cast<NodeId>(random() % (3 * static_cast<unsigned>(nodes)));
  for (NodeId i = 0; i < count; ++i) {
    const auto tail = static_cast<NodeId>(random() % static_cast<unsigned>(nodes));
    const auto head = static_cast<NodeId>(random() % static_cast<unsigned>(nodes));
    if (tail != head) edges.push_back({tail, head, static_cast<Capacity>(random() % 10)});
  }
  return edges;
}

Capacity leaving(const std::vector<CapacityEdge>& edges, unsigned inside) {
  Capacity sum = 0;
  for (const CapacityEdge& edge : edges)
    if ((inside >> edge.tail & 1) != 0 && (inside >> edge.head & 1) == 0) sum += edge.capacity;
  return sum;
}

Capacity narrowest_cut(NodeId nodes, const std::vector<CapacityEdge>& edges, NodeId source, NodeId sink) {
  Capacity narrowest = -1;
  for (unsigned inside = 0; inside < 1U << nodes; ++inside) {
    if ((inside >> source & 1) == 0 || (inside >> sink & 1) != 0) continue;
    const Capacity cut = leaving(edges, inside);
    if (narrowest < 0 || cut < narrowest) narrowest = cut;
  }
  return narrowest;
}

constexpr Capacity k_no_limit = 1'000'000;

TEST(MaxFlow, is_the_narrowest_cut_and_names_it) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 200; ++trial) {
    const auto nodes = static_cast<NodeId>(2 + random() % 7);
    const std::vector<CapacityEdge> edges = random_edges(nodes, random);
    MaxFlow network(nodes, edges);
    for (NodeId sink = 1; sink < nodes; ++sink) {
      network.clear();
      const Capacity flow = network.push(0, sink, k_no_limit);
      EXPECT_EQ(flow, narrowest_cut(nodes, edges, 0, sink)) << "trial " << trial;
      unsigned inside = 0;
      for (NodeId node = 0; node < nodes; ++node) inside |= network.is_reached(node) ? 1U << node : 0;
      EXPECT_TRUE((inside & 1) != 0 && (inside >> sink & 1) == 0);
      EXPECT_EQ(flow, leaving(edges, inside)) << "trial " << trial;
    }
  }
}

TEST(MaxFlow, stops_at_its_limit_and_goes_on_from_there) {
  const std::vector<CapacityEdge> edges{{0, 1, 5}, {1, 2, 7}, {0, 2, 4}};
  MaxFlow network(3, edges);
  EXPECT_EQ(network.push(0, 2, 6), 6);
  EXPECT_EQ(network.push(0, 2, 6), 3);
}

TEST(MaxFlow, of_one_sink_moved_on_to_the_next_is_as_large_as_one_from_the_source) {
  std::mt19937 random(2);
  int reached = 0, missed = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const auto nodes = static_cast<NodeId>(3 + random() % 6);
    const std::vector<CapacityEdge> edges = random_edges(nodes, random);
    MaxFlow network(nodes, edges);
    const Capacity wanted = std::min<Capacity>(narrowest_cut(nodes, edges, 0, 1), 5);
    if (wanted == 0) continue;
    ASSERT_EQ(network.push(0, 1, wanted), wanted);
    const bool moved = network.push(1, 2, wanted) == wanted;
    EXPECT_EQ(moved, narrowest_cut(nodes, edges, 0, 2) >= wanted) << "trial " << trial;
    (moved ? reached : missed) += 1;
  }
  EXPECT_GT(reached, 20);
  EXPECT_GT(missed, 20);
}

TEST(MaxFlow, counts_changed_capacities_from_the_next_clear) {
  const std::vector<CapacityEdge> edges{{0, 1, 5}, {1, 0, 2}};
  MaxFlow network(2, edges);
  network.set_capacity(1, 9);
  network.set_capacity(0, 3);
  EXPECT_EQ(network.push(0, 1, k_no_limit), 5);
  network.clear();
  EXPECT_EQ(network.push(0, 1, k_no_limit), 3);
  network.clear();
  EXPECT_EQ(network.push(1, 0, k_no_limit), 9);
}

TEST(LeastCut, is_the_least_of_the_flows_to_all_others_and_names_it) {
  std::mt19937 random(3);
  int open = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    const auto nodes = static_cast<NodeId>(2 + random() % (trial % 20 == 0 ? 60U : 9U));
    std::vector<CapacityEdge> edges = random_edges(nodes, random);
    for (NodeId node = 0; trial % 2 == 0 && node < nodes; ++node) edges.push_back({node, (node + 1) % nodes, 3});
    const auto source = static_cast<NodeId>(random() % static_cast<unsigned>(nodes));
    MaxFlow network(nodes, edges);
    Capacity least = k_no_limit;
    for (NodeId sink = 0; sink < nodes; ++sink) {
      if (sink == source) continue;
      network.clear();
      least = std::min(least, network.push(source, sink, k_no_limit));
    }
    const LeastCut cut = least_cut(nodes, edges, source);
    EXPECT_EQ(cut.capacity, least) << "trial " << trial;
    const auto is_inside = [&](NodeId node) { return cut.inside[static_cast<std::size_t>(node)]; };
    Capacity out = 0;
    for (const CapacityEdge& edge : edges) out += is_inside(edge.tail) && !is_inside(edge.head) ? edge.capacity : 0;
    EXPECT_EQ(out, least) << "trial " << trial;
    EXPECT_TRUE(is_inside(source) && std::ranges::find(cut.inside, false) != cut.inside.end());
    open += least > 0 ? 1 : 0;
  }
  EXPECT_GT(open, 1000);
}

}  // namespace
}  // namespace colltopo
