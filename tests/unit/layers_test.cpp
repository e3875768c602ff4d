// Layers without cycles, and how few of them.
#include <gmock/gmock.h>

#include <random>
#include <set>

#include "colltopo/layers.h"
#include "networks.h"
#include "routing/closed_layer.h"
#include "routing/dependencies.h"

namespace colltopo {
namespace {

constexpr LayerMethod k_methods[] = {LayerMethod::lash, LayerMethod::lash_sequential, LayerMethod::df_sssp};

using Routes = std::vector<std::span<const LinkId>>;

Routes routes_of(const Routing& routing) {
  Routes routes;
  for (std::size_t i = 0; i < routing.paths(); ++i) routes.push_back(routing.path(i).links);
  return routes;
}

/// By marking what is reached: a way of finding cycles that has nothing in common with the one under test.
bool has_cycle(const Topology& topology, const Routes& routes) {
  std::set<std::pair<LinkId, LinkId>> waits;
  for (const auto& route : routes)
    for (std::size_t i = 1; i < route.size(); ++i) waits.insert({route[i - 1], route[i]});
  for (LinkId start = 0; start < static_cast<LinkId>(topology.links().size()); ++start) {
    std::set<LinkId> reached;
    std::vector<LinkId> open{start};
    while (!open.empty()) {
      const LinkId link = open.back();
      open.pop_back();
      for (auto it = waits.lower_bound({link, -1}); it != waits.end() && it->first == link; ++it) {
        if (it->second == start) return true;
        if (reached.insert(it->second).second) open.push_back(it->second);
      }
    }
  }
  return false;
}

Routes of_layer(const Routes& routes, const std::vector<std::int32_t>& layers, std::int32_t layer) {
  Routes chosen;
  for (std::size_t i = 0; i < routes.size(); ++i)
    if (layers[i] == layer) chosen.push_back(routes[i]);
  return chosen;
}

// Each layer lacks one of the five dependencies; whichever two are chosen, some route of four links has both.
TEST(Layers, a_one_way_ring_of_five_needs_three) {
  TopologyBuilder builder("one way", 5);
  for (NodeId host = 0; host < 5; ++host) builder.link(host, (host + 1) % 5);
  const Topology ring = std::move(builder).build();
  const Routing routing = shortest_routing(ring);
  const Routes routes = routes_of(routing);
  EXPECT_GE(link_in_cycle(ring, routes), 0);
  for (const LayerMethod method : k_methods)
    EXPECT_EQ(layers_in(layers_of(ring, RouteLinks(routes), method)), 3) << name(method);
}

TEST(Layers, a_tree_and_a_mesh_in_dimension_order_need_one) {
  for (const char* spec : {"switch:6", "mesh:4x4"}) {
    const Topology topology = topology_of(spec);
    const Routing routing = shortest_routing(topology);
    const Routes routes = routes_of(routing);
    EXPECT_EQ(link_in_cycle(topology, routes), -1);
    for (const LayerMethod method : k_methods)
      EXPECT_EQ(layers_in(layers_of(topology, RouteLinks(routes), method)), 1) << spec << ' ' << name(method);
  }
}

TEST(Layers, of_random_routes_have_no_cycles) {
  for (std::uint32_t seed = 1; seed <= 12; ++seed) {
    const Topology topology = random_network(seed, 9, static_cast<NodeId>(seed % 4));
    const Routing routing = random_routing(topology, seed, 2);
    const Routes routes = routes_of(routing);
    EXPECT_EQ(link_in_cycle(topology, routes) >= 0, has_cycle(topology, routes));
    for (const LayerMethod method : k_methods) {
      const std::vector<std::int32_t> layers = layers_of(topology, RouteLinks(routes), method);
      ASSERT_EQ(layers.size(), routes.size());
      for (std::int32_t layer = 0; layer < layers_in(layers); ++layer) {
        const Routes chosen = of_layer(routes, layers, layer);
        EXPECT_FALSE(chosen.empty()) << name(method);
        EXPECT_FALSE(has_cycle(topology, chosen)) << topology.name() << ' ' << name(method) << ' ' << layer;
        EXPECT_EQ(link_in_cycle(topology, chosen), -1);
      }
    }
  }
}

TEST(Layers, those_that_know_and_those_that_search_take_the_same_routes) {
  for (std::uint32_t seed = 1; seed <= 12; ++seed) {
    const Topology topology = random_network(seed, 20, static_cast<NodeId>(seed % 4));
    const Routing routing = random_routing(topology, seed, 2);
    const Routes routes = routes_of(routing);
    const Dependencies dependencies(topology.links().size(), RouteLinks(routes));
    ClosedLayer closed(topology.links().size());
    AcyclicLayer searched(dependencies);
    std::vector<DependencyId> between;
    int taken = 0;
    for (const auto& route : routes) {
      dependencies.along(route, between);
      const bool takes = closed.take(route);
      taken += takes;
      ASSERT_EQ(takes, searched.take(route, between)) << topology.name() << " after " << taken;
    }
    EXPECT_GT(taken, 0);
    EXPECT_LT(taken, static_cast<int>(routes.size())) << "all in one layer: nothing was asked";
  }
}

// Layers that know all, and on more than 16,384 links those that search.
TEST(Layers, are_the_same_on_any_number_of_threads) {
  for (const char* spec : {"torus:12x12", "torus:66x64"}) {
    const Topology torus = topology_of(spec);
    const ShortestPaths shortest(torus, SinglePaths::unknown);
    std::vector<std::vector<LinkId>> paths;
    std::mt19937 random(1);
    const auto host = [&] { return static_cast<NodeId>(random() % static_cast<unsigned>(torus.hosts())); };
    while (paths.size() < 30'000)
      if (const NodeId source = host(), target = host(); source != target)
        paths.push_back(shortest.path(source, target));
    const Routes routes(paths.begin(), paths.end());
    for (const LayerMethod method : k_methods) {
      const std::vector<std::int32_t> one = layers_of(torus, RouteLinks(routes), method, 1);
      EXPECT_GT(layers_in(one), 1);
      for (std::int32_t layer = 0; layer < layers_in(one); ++layer)
        EXPECT_EQ(link_in_cycle(torus, of_layer(routes, one, layer)), -1) << spec << ' ' << name(method);
      EXPECT_EQ(layers_of(torus, RouteLinks(routes), method, 2), one) << spec << ' ' << name(method);
      EXPECT_EQ(layers_of(torus, RouteLinks(routes), method, 7), one) << spec << ' ' << name(method);
    }
  }
}

TEST(Layers, none_promises_nothing) {
  const Topology ring = topology_of("ring:6");
  const Routing routing = shortest_routing(ring);
  EXPECT_EQ(layers_in(layers_of(ring, RouteLinks(routes_of(routing)), LayerMethod::none)), 1);
}

TEST(Layers, methods_have_names) {
  for (const LayerMethod method : k_methods) EXPECT_EQ(layer_method_named(name(method)), method);
  EXPECT_EQ(layer_method_named("lash-random"), std::nullopt);
}

}  // namespace
}  // namespace colltopo
