// Merging paths within a limit, and the method `mcf` that ends with it.
#include <gmock/gmock.h>

#include "colltopo/synthesis.h"
#include "synthesis/paths/fewer_paths.h"

namespace colltopo {

using namespace synthesis;
namespace {

/// Two hosts with two cables: 0 -> 1 by links 0 and 2, back by 1 and 3; the shares 0.4 and 0.6 of either way.
struct TwoCables {
  TwoCables() {
    const auto add = [&](NodeId source, LinkId light, LinkId heavy) {
      routing.add(source, 1 - source, 0.4, std::vector<LinkId>{light});
      routing.add(source, 1 - source, 0.6, std::vector<LinkId>{heavy});
    };
    add(0, 0, 2);
    add(1, 1, 3);
  }

  Topology topology = std::move(TopologyBuilder("two cables", 2).cable(0, 1).cable(0, 1)).build();
  Routing routing{2};
};

TEST(FewerPaths, merge_into_the_heaviest_when_there_is_room) {
  const TwoCables two;
  const Routing merged = with_fewer_paths(whole_instance(two.topology), two.routing, 1);
  ASSERT_EQ(merged.paths(), 2U);
  EXPECT_EQ(routing_fault(two.topology, merged), "");
  EXPECT_EQ(merged.path(0).links[0], 2);
  EXPECT_EQ(merged.path(1).links[0], 3);
}

TEST(FewerPaths, stay_where_the_load_would_exceed_the_time) {
  const TwoCables two;
  EXPECT_EQ(with_fewer_paths(whole_instance(two.topology), two.routing, 0.99).paths(), 4U);
}

TEST(FewerPaths, count_every_link_of_a_class) {
  // Both cables one class: 2 links, capacity 2, loads 1 either way. Nothing grows by merging, so a time of 1/2 allows
  // it.
  const TwoCables two;
  FlowInstance alike = whole_instance(two.topology);
  alike.link_class = {0, 1, 0, 1};
  alike.class_capacity = {2, 2};
  EXPECT_EQ(with_fewer_paths(alike, two.routing, 0.5).paths(), 2U);
}

// One host in all the shares that its ways out and the other's ways in allow: a few carry the same.
TEST(FewerPaths, trade_where_a_pair_is_most_of_the_traffic) {
  const Topology graph = topology_of("bipartite:4:4");
  Demand demand(8);
  for (NodeId source = 0; source < 8; ++source)
    for (NodeId target = 0; target < 8; ++target) demand.add(source, target, source == 7 && target == 0 ? 1000 : 1);
  SynthesisOptions options;
  options.gap = 0.01;
  options.threads = 1;
  options.demand = &demand;
  const Synthesis made = routing_method_named("mcf")->make(graph, options);
  EXPECT_EQ(routing_fault(graph, made.routing), "");
  EXPECT_LE(made.bound.gap(), options.gap);
  int paths = 0;
  for (std::size_t path = 0; path < made.routing.paths(); ++path)
    paths += made.routing.path(path).source == 7 && made.routing.path(path).target == 0 ? 1 : 0;
  EXPECT_GE(paths, 4);
  EXPECT_LE(paths, 5);
}

TEST(Mcf, leaves_nearly_all_pairs_a_single_path_within_a_percent) {
  const Topology graph = topology_of("kautz:200:4");
  SynthesisOptions options;
  options.gap = 0.01;
  options.threads = 1;
  const Synthesis made = routing_method_named("mcf")->make(graph, options);
  EXPECT_EQ(routing_fault(graph, made.routing), "");
  EXPECT_LE(made.bound.gap(), options.gap);
  EXPECT_LT(made.routing.paths(), 200U * 199U * 1.05);
  EXPECT_NEAR(time_lower_bound(graph, made.bound.lengths), made.bound.time_lower, 1e-9 * made.bound.time);
}

TEST(Mcf, reaches_the_exact_optimum_when_asked) {
  // 1/F of the exact linear program.
  SynthesisOptions options;
  options.gap = 1e-7;
  const Synthesis made = routing_method_named("mcf")->make(topology_of("kautz:64:4"), options);
  EXPECT_NEAR(made.bound.time, 46.066667, 1e-5);
  EXPECT_LE(made.bound.gap(), options.gap);
}

}  // namespace
}  // namespace colltopo
