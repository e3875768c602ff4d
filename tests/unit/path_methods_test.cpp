// The path-based methods against known times, proven optima and their own promises.
#include <algorithm>

#include <gmock/gmock.h>

#include "colltopo/synthesis.h"
#include "synthesis/methods/ewsp.h"
#include "synthesis/methods/mcf_path.h"
#include "synthesis/paths/candidate_paths.h"
#include "synthesis/paths/path_sets.h"

namespace colltopo {

using namespace synthesis;
namespace {

using testing::DoubleEq;
using testing::Each;
using testing::HasSubstr;

Synthesis make(const char* method, const Topology& topology, const SynthesisOptions& options = {}) {
  const RoutingMethod& row = *routing_method_named(method);
  EXPECT_EQ(row.refusal(topology, options), "");
  return row.make(topology, options);
}

double time_of(const char* method, const char* spec, const SynthesisOptions& options = {}) {
  return make(method, topology_of(spec), options).bound.time;
}

SynthesisOptions to_gap(double gap) {
  SynthesisOptions options;
  options.gap = gap;
  return options;
}

// Sssp ----------------------------------------------------------------------------------------------------------------

/// The shortest path from 0 to 5 shares a link with both of the two disjoint ones.
Topology trap() {
  TopologyBuilder builder("trap", 6);
  builder.link(0, 1).link(1, 2).link(2, 5).link(0, 3).link(3, 2).link(1, 4).link(4, 5);
  for (NodeId node = 1; node < 6; ++node) builder.link(node, 0);
  return std::move(builder).build();
}

TEST(Sssp, takes_one_shortest_path_per_pair) {
  const Topology kautz = topology_of("kautz:40:4");
  const Synthesis sssp = make("sssp", kautz);
  EXPECT_EQ(sssp.routing.paths(), 40U * 39U);
  for (std::size_t i = 0; i < sssp.routing.paths(); ++i) {
    const WeightedPath path = sssp.routing.path(i);
    ASSERT_EQ(static_cast<int>(path.links.size()), PathsFrom(kautz, path.source).hops(path.target));
  }
}

TEST(Sssp, is_as_far_from_the_optimum_as_the_paper_finds_it) {
  const double torus = time_of("sssp", "torus:3x3x3") / 9;  // "more than 50% worse" (5.2)
  EXPECT_GT(torus, 1.5);
  EXPECT_LT(torus, 1.7);
  const double kautz = time_of("sssp", "kautz:64:4") / 46.066667;  // "up to 1.6 times" (5.3)
  EXPECT_GT(kautz, 1.1);
  EXPECT_LT(kautz, 1.6);
}

TEST(Sssp, prefers_wide_links) {
  // From 0 to 3 there are two ways of two links; the wider one is taken.
  TopologyBuilder builder("two ways", 4);
  builder.link(0, 1, 4e9).link(1, 3, 4e9).link(0, 2, 1e9).link(2, 3, 1e9).link(3, 0, 4e9);
  const Topology ways = std::move(builder).build();
  const Synthesis sssp = make("sssp", ways);
  EXPECT_EQ(routing_fault(ways, sssp.routing), "");
  const std::vector<double> loads = link_loads(ways, sssp.routing);
  EXPECT_THAT(loads, testing::ElementsAre(4, 4, 3, 3, 7));
}

// EwSP ----------------------------------------------------------------------------------------------------------------

TEST(EqualWeightShortestPaths, are_optimal_where_the_paper_finds_them_so) {
  EXPECT_NEAR(time_of("ewsp", "torus:3x3x3"), 9, 1e-9);
  EXPECT_NEAR(time_of("ewsp", "hypercube:3"), 4, 1e-9);
  EXPECT_NEAR(time_of("ewsp", "bipartite:4:4"), 2.5, 1e-9);
  EXPECT_GT(time_of("ewsp", "kautz:64:4"), 1.1 * 46.066667);  // and bad where it does (5.3)
}

TEST(EqualWeightShortestPaths, load_links_as_counted) {
  for (const char* spec : {"kautz:40:4", "torus:4x5", "mesh:3x4", "hypercube:4"}) {
    const Topology topology = topology_of(spec);
    const std::vector<double> listed = link_loads(topology, make("ewsp", topology).routing);
    EXPECT_THAT(equal_weight_loads(topology), testing::Pointwise(testing::DoubleNear(1e-9), listed)) << spec;
  }
}

TEST(EqualWeightShortestPaths, beyond_the_cap_are_still_counted_and_said_to_be_left_out) {
  const Topology torus = topology_of("torus:12x12");
  EXPECT_THAT(equal_weight_loads(torus), Each(testing::DoubleNear(12 * 12 * 12 / 8.0, 1e-9)));
  const Synthesis capped = make("ewsp", torus);
  EXPECT_THAT(capped.remark, HasSubstr("more than 64"));
  EXPECT_EQ(routing_fault(torus, capped.routing), "");
}

// Dimension order -----------------------------------------------------------------------------------------------------

TEST(DimensionOrder, is_optimal_on_tori) {
  EXPECT_EQ(time_of("dor", "torus:3x3x3"), 9);
  EXPECT_EQ(time_of("dor", "torus:8x8"), 64);
}

TEST(DimensionOrder, needs_a_grid) {
  EXPECT_EQ(routing_method_named("dor")->refusal(topology_of("bipartite:4:4"), {}),
            "dimension order needs a whole grid (ring, mesh, torus, hypercube); bipartite:4:4 is none");
}

// The approximation ---------------------------------------------------------------------------------------------------

TEST(Fptas, is_within_its_promise_and_proves_a_bound) {
  struct Case {
    const char* spec;
    double optimum;
  };
  for (const auto& [spec, optimum] :
       {Case{"torus:3x3x3", 9}, Case{"bipartite:4:4", 2.5}, Case{"kautz:16:4", 53 / 7.0}, Case{"kautz:32:4", 21.25}}) {
    for (const double epsilon : {0.3, 0.1, 0.05}) {
      SynthesisOptions options;
      options.epsilon = epsilon;
      const Topology topology = topology_of(spec);
      const Synthesis fptas = make("fptas", topology, options);
      EXPECT_LE(fptas.bound.time * (1 - 3 * epsilon), optimum) << spec << " " << epsilon;
      EXPECT_GE(fptas.bound.time, optimum * (1 - 1e-9)) << spec << " " << epsilon;
      EXPECT_GE(fptas.bound.time_lower, optimum * (1 - 3 * epsilon)) << spec << " " << epsilon;
      EXPECT_LE(fptas.bound.time_lower, optimum * (1 + 1e-9)) << spec << " " << epsilon;
      EXPECT_DOUBLE_EQ(fptas.bound.time_lower, time_lower_bound(topology, fptas.bound.lengths));
    }
  }
}

TEST(Fptas, needs_an_epsilon_that_promises_something) {
  SynthesisOptions options;
  options.epsilon = 0.4;
  EXPECT_EQ(routing_method_named("fptas")->refusal(topology_of("ring:4"), options),
            "epsilon 0.4: the approximation is within 1 - 3 epsilon, so it must be above 0 and below 1/3");
}

// Path flow -----------------------------------------------------------------------------------------------------------

TEST(McfPath, over_disjoint_paths_is_the_exact_optimum_of_small_graphs) {
  struct Case {
    const char* spec;
    double optimum;
  };
  for (const auto& [spec, optimum] : {Case{"hypercube:3", 4}, Case{"bipartite:4:4", 2.5}, Case{"torus:4x4", 8},
                                      Case{"kautz:16:4", 53 / 7.0}, Case{"kautz:32:4", 21.25}}) {
    const Topology topology = topology_of(spec);
    const Synthesis flow = make("mcf-path", topology);
    EXPECT_NEAR(flow.bound.time, optimum, 1e-6) << spec;
    EXPECT_NEAR(flow.bound.time_lower, optimum, 1e-6) << spec;
    EXPECT_NEAR(flow.time_lower_of_paths, optimum, 1e-6) << spec;
  }
  const FlowBound twisted = make("mcf-path", topology_of("twisted-hypercube:3")).bound;
  EXPECT_NEAR(twisted.time, twisted.time_lower, 1e-6);
}

TEST(McfPath, over_disjoint_paths_is_within_a_percent_of_the_optimum_of_larger_graphs) {
  EXPECT_LT(time_of("mcf-path", "torus:3x3x3", to_gap(5e-3)), 1.01 * 9);
  EXPECT_LT(time_of("mcf-path", "kautz:64:4", to_gap(5e-3)), 1.01 * 46.066667);
  EXPECT_LT(time_of("mcf-path", "kautz:100:4", to_gap(5e-3)), 1.01 * 80.928571);
}

TEST(McfPath, over_shortest_paths_is_worse_on_an_expander_and_best_on_a_torus) {
  SynthesisOptions options = to_gap(0.01);
  options.path_set = PathSet::shortest;
  EXPECT_GT(time_of("mcf-path", "kautz:64:4", options), 1.1 * 46.066667);
  EXPECT_LT(time_of("mcf-path", "torus:4x4", options), 1.01 * 8);
}

TEST(CandidatePaths, disjoint_sets_are_disjoint_and_widened_ones_hold_them) {
  int wider = 0;
  for (const Topology& topology : {trap(), topology_of("kautz:16:4"), topology_of("torus:3x3")}) {
    const std::string& spec = topology.name();
    SynthesisOptions options;
    options.path_set = PathSet::disjoint;
    const Routing disjoint = candidate_paths(topology, options).paths;
    options.path_set = PathSet::widened;
    const Routing widened = candidate_paths(topology, options).paths;
    EXPECT_GE(widened.paths(), disjoint.paths());
    wider += widened.paths() > disjoint.paths();
    for (std::size_t i = 0; i < disjoint.paths();) {
      std::vector<LinkId> used;
      const NodeId source = disjoint.path(i).source, target = disjoint.path(i).target;
      std::size_t paths = 0;
      for (; i < disjoint.paths() && disjoint.path(i).source == source && disjoint.path(i).target == target;
           ++i, ++paths)
        used.insert(used.end(), disjoint.path(i).links.begin(), disjoint.path(i).links.end());
      std::sort(used.begin(), used.end());
      EXPECT_EQ(std::adjacent_find(used.begin(), used.end()), used.end()) << spec;
      EXPECT_EQ(paths, disjoint_paths(topology, source, target).size()) << spec;
    }
  }
  EXPECT_GT(wider, 0);
}

TEST(Ewsp, its_bound_counts_all_shortest_paths) {
  // 6x6x6 has pairs with 90 * 8 shortest paths, of which the routing takes 64.
  const Topology topology = topology_of("torus:6x6x6");
  const Synthesis synthesis = make("ewsp", topology, {});
  EXPECT_DOUBLE_EQ(synthesis.bound.time, all_to_all_time(topology, equal_weight_loads(topology)));
  EXPECT_NEAR(synthesis.bound.time, 216 * 6 / 4.0 / 2, 1e-9);  // even: the distances over the links
  EXPECT_LT(synthesis.bound.time, all_to_all_time(topology, link_loads(topology, synthesis.routing)));
  EXPECT_THAT(synthesis.remark, testing::HasSubstr("12960 pairs"));
}

TEST(McfPath, by_sweeps_agrees_with_the_linear_programme) {
  SynthesisOptions options = to_gap(4e-3);
  options.path_set = PathSet::shortest;
  for (const char* spec : {"kautz:32:4", "kautz:24:3"}) {
    const Topology topology = topology_of(spec);
    const Routing paths = candidate_paths(topology, options).paths;
    const Synthesis exact = best_weights_exactly(topology, paths, options);
    const Synthesis swept = best_weights(topology, paths, options);
    EXPECT_NEAR(exact.bound.time, exact.time_lower_of_paths, 1e-6) << spec;
    EXPECT_NEAR(swept.bound.time, exact.bound.time, 1.01e-3 * exact.bound.time) << spec;
    EXPECT_NEAR(swept.time_lower_of_paths, exact.bound.time, 1.01e-3 * exact.bound.time) << spec;
  }
}

TEST(McfPath, proves_what_its_paths_allow) {
  SynthesisOptions options = to_gap(0.01);
  options.path_set = PathSet::shortest;
  const Topology kautz = topology_of("kautz:64:4");
  const Synthesis flow = make("mcf-path", kautz, options);
  EXPECT_LE(flow.bound.time / flow.time_lower_of_paths, 1 + options.gap / 4 + 1e-9);
  EXPECT_LE(flow.time_lower_of_paths, flow.bound.time);
  EXPECT_LE(flow.bound.time_lower, 46.0667);
  EXPECT_DOUBLE_EQ(flow.bound.time_lower, time_lower_bound(kautz, flow.bound.lengths));
}

TEST(McfPath, of_longer_paths_is_no_slower) {
  SynthesisOptions options = to_gap(1e-3);
  options.path_set = PathSet::bounded;
  options.most_links = 2;
  const double two = time_of("mcf-path", "kautz:16:4", options);
  options.most_links = 3;
  EXPECT_LT(time_of("mcf-path", "kautz:16:4", options), two * 0.99);
  options.most_links = 1;
  EXPECT_EQ(routing_method_named("mcf-path")->refusal(topology_of("kautz:16:4"), options),
            "paths of at most 1 links leave pairs of kautz:16:4 without any; its diameter is 2");
}

TEST(CandidatePaths, are_as_many_as_can_be_disjoint_where_short_ones_block_each_other) {
  const CandidatePaths candidates = candidate_paths(trap(), {});
  std::size_t of_pair = 0;
  for (std::size_t i = 0; i < candidates.paths.paths(); ++i) {
    const WeightedPath path = candidates.paths.path(i);
    of_pair += path.source == 0 && path.target == 5;
  }
  EXPECT_EQ(of_pair, 3U);
}

}  // namespace
}  // namespace colltopo
