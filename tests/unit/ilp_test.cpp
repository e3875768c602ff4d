// One path per pair by integer programming, against all choices one by one.
#include <gmock/gmock.h>

#include <algorithm>
#include <ctime>

#include "colltopo/synthesis.h"
#include "synthesis/paths/candidate_paths.h"
#include "synthesis/paths/path_sets.h"

namespace colltopo {

using namespace synthesis;
namespace {

using testing::HasSubstr;

/// [pair] its paths.
std::vector<std::vector<Path>> all_candidates(const Topology& topology, PathSet set) {
  SynthesisOptions options;
  options.path_set = set;
  const Routing candidates = candidate_paths(topology, options).paths;
  std::vector<std::vector<Path>> pairs;
  for (std::size_t i = 0; i < candidates.paths(); ++i) {
    const WeightedPath path = candidates.path(i);
    if (i == 0 || candidates.path(i - 1).source != path.source || candidates.path(i - 1).target != path.target)
      pairs.emplace_back();
    pairs.back().emplace_back(path.links.begin(), path.links.end());
  }
  return pairs;
}

/// The least largest load over all choices of one path per pair.
double least_by_trying(const Topology& topology, PathSet set) {
  const auto pairs = all_candidates(topology, set);
  const std::vector<double> capacity = capacities(topology);
  std::vector<double> loads(capacity.size(), 0);
  double least = 1e9;
  const auto choose = [&](const auto& next, std::size_t pair) -> void {
    double time = 0;
    for (std::size_t link = 0; link < loads.size(); ++link) time = std::max(time, loads[link] / capacity[link]);
    if (time >= least) return;
    if (pair == pairs.size()) {
      least = time;
      return;
    }
    for (const Path& path : pairs[pair]) {
      for (const LinkId link : path) loads[static_cast<std::size_t>(link)] += 1;
      next(next, pair + 1);
      for (const LinkId link : path) loads[static_cast<std::size_t>(link)] -= 1;
    }
  };
  choose(choose, 0);
  return least;
}

Topology two_speeds() {
  TopologyBuilder builder("two speeds", 4);
  for (const auto& [a, b, speed] : {std::tuple{0, 1, 1.0}, {1, 2, 2.5}, {2, 3, 1.0}, {3, 0, 4.0}, {0, 2, 1.5}})
    builder.link(a, b, speed * 1e9).link(b, a, 2e9);
  return std::move(builder).build();
}

TEST(Ilp, finds_what_trying_all_choices_finds) {
  const RoutingMethod& ilp = *routing_method_named("ilp");
  for (const Topology& topology :
       {topology_of("ring:4"), topology_of("mesh:2x3"), topology_of("kautz:5:2"), two_speeds()})
    for (const PathSet set : {PathSet::disjoint, PathSet::shortest}) {
      SCOPED_TRACE(topology.name());
      SynthesisOptions options;
      options.gap = 0;
      options.path_set = set;
      ASSERT_EQ(ilp.refusal(topology, options), "");
      const Synthesis synthesis = ilp.make(topology, options);
      EXPECT_EQ(routing_fault(topology, synthesis.routing), "");
      EXPECT_EQ(synthesis.routing.paths(), static_cast<std::size_t>(topology.hosts() * (topology.hosts() - 1)));
      EXPECT_NEAR(synthesis.bound.time, least_by_trying(topology, set), 1e-9);
      EXPECT_DOUBLE_EQ(synthesis.bound.time, all_to_all_time(topology, link_loads(topology, synthesis.routing)));
      EXPECT_LE(synthesis.time_lower_of_paths, synthesis.bound.time + 1e-9);
      EXPECT_LE(synthesis.bound.time_lower, synthesis.time_lower_of_paths + 1e-9);
      EXPECT_DOUBLE_EQ(synthesis.bound.time_lower, time_lower_bound(topology, synthesis.bound.lengths));
    }
}

TEST(Ilp, takes_only_paths_of_the_set) {
  const Topology topology = topology_of("kautz:9:3");
  for (const PathSet set : {PathSet::disjoint, PathSet::shortest}) {
    SynthesisOptions options;
    options.path_set = set;
    const Synthesis synthesis = routing_method_named("ilp")->make(topology, options);
    const auto pairs = all_candidates(topology, set);
    for (std::size_t i = 0; i < synthesis.routing.paths(); ++i) {
      const auto links = synthesis.routing.path(i).links;
      EXPECT_THAT(pairs[i], testing::Contains(Path(links.begin(), links.end())));
    }
  }
}

TEST(Ilp, is_optimal_on_a_torus_and_not_where_one_path_is_too_few) {
  // Basu et al., 5.2: ILP-disjoint is bandwidth optimal on the 3D torus and not on the complete bipartite graph.
  EXPECT_DOUBLE_EQ(routing_method_named("ilp")->make(topology_of("torus:3x3x3"), {}).bound.time, 9);
  const FlowBound bound = routing_method_named("ilp")->make(topology_of("bipartite:4:4"), {}).bound;
  EXPECT_DOUBLE_EQ(bound.time, 3);
  EXPECT_NEAR(bound.time_lower, 2.5, 1e-9);
}

TEST(Ilp, says_what_no_choice_beats) {
  for (const char* spec : {"bipartite:4:4", "kautz:9:3", "torus:3x3"}) {
    const Topology topology = topology_of(spec);
    SynthesisOptions options;
    options.gap = 0;
    const Synthesis synthesis = routing_method_named("ilp")->make(topology, options);
    EXPECT_DOUBLE_EQ(synthesis.time_lower_of_choice, synthesis.bound.time) << spec;
    EXPECT_GE(synthesis.time_lower_of_choice, synthesis.time_lower_of_paths - 1e-6) << spec;
  }
}

TEST(Ilp, stops_at_once_when_the_time_is_up) {
  SynthesisOptions options;
  options.seconds = 1e-3;
  const Topology topology = topology_of("kautz:100:4");
  const std::clock_t began = std::clock();  // of the processor: the machine may do something else
  const Synthesis synthesis = routing_method_named("ilp")->make(topology, options);
  // The paths alone take a part of a second; solving without a limit took ten.
  EXPECT_LT(static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC, 5);
  EXPECT_EQ(routing_fault(topology, synthesis.routing), "");
}

TEST(Ilp, gives_what_it_has_when_the_time_is_up) {
  const Topology topology = topology_of("kautz:20:3");
  SynthesisOptions options;
  options.gap = 0;
  options.seconds = 0;
  const Synthesis synthesis = routing_method_named("ilp")->make(topology, options);
  EXPECT_EQ(routing_fault(topology, synthesis.routing), "");
  EXPECT_THAT(routing_method_named("ilp")->refusal(topology_of("torus:16x16"), {}), HasSubstr("sssp"));
}

}  // namespace
}  // namespace colltopo
