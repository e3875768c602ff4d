// Time-stepped all-to-all: the optimum, its certificate, its way to a schedule that verifies and runs.
#include "colltopo/stepped.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "schedules.h"
#include "synthesis/lp/expanded_graph.h"
#include "synthesis/lp/time_expanded_lp.h"
#include "synthesis/paths/candidate_paths.h"
#include "synthesis/steps/hop_times.h"

namespace colltopo {

using namespace synthesis;
namespace {

using testing::HasSubstr;

SteppedSynthesis proved(const Topology& topology, const SynthesisOptions& options = {}) {
  SteppedSynthesis synthesis = stepped_flow(topology, options);
  EXPECT_EQ(stepped_fault(topology, synthesis.flow), "");
  EXPECT_DOUBLE_EQ(synthesis.bound.time, stepped_time(topology, synthesis.flow));
  EXPECT_DOUBLE_EQ(synthesis.bound.time_lower, time_lower_bound(topology, synthesis.bound.lengths));
  return synthesis;
}

struct Known {
  const char* spec;
  double time;  // 1/F
};

TEST(SteppedFlow, is_as_fast_as_the_flow_without_steps) {
  for (const auto& [spec, time] :
       {Known{"torus:3x3", 3}, Known{"hypercube:3", 4}, Known{"twisted-hypercube:3", 4}, Known{"bipartite:4:4", 2.5},
        Known{"torus:3x3x3", 9}, Known{"kautz:16:4", 7.5714285714}, Known{"switch:6", 5}}) {
    const SteppedSynthesis synthesis = proved(topology_of(spec));
    EXPECT_NEAR(synthesis.bound.time_lower, time, 1e-6 * time) << spec;
    EXPECT_NEAR(synthesis.bound.time, time, 1e-5 * time) << spec;
    EXPECT_LE(synthesis.flow.steps(), fewest_steps(topology_of(spec)) + 1) << spec;
  }
}

TEST(SteppedFlow, reaches_the_bound_of_limited_hosts) {
  // Basu et al., 5.2: F = 2/27 on the 3D torus whose hosts send and forward at 4 links' speed.
  const SteppedSynthesis synthesis = proved(topology_of("torus:3x3x3/host-bandwidth:4"));
  EXPECT_NEAR(synthesis.bound.time_lower, 13.5, 1e-6);
  EXPECT_NEAR(synthesis.bound.time, 13.5, 1e-4);
}

TEST(SteppedFlow, counts_unequal_links_by_their_capacity) {
  TopologyBuilder builder("two speeds", 3);
  for (const auto& [tail, head] : {std::pair{0, 1}, {1, 2}, {2, 0}})
    builder.link(tail, head, 2e9).link(head, tail, 1e9);
  const Topology topology = std::move(builder).build();
  const SteppedSynthesis synthesis = proved(topology);
  EXPECT_NEAR(synthesis.bound.time, synthesis.bound.time_lower, 1e-6);
}

TEST(SteppedFlow, of_larger_networks_is_within_the_gap) {
  for (const char* spec : {"kautz:64:4", "torus:6x6", "torus:4x4x4/host-bandwidth:4"}) {
    const SteppedSynthesis synthesis = proved(topology_of(spec));
    EXPECT_THAT(synthesis.method, HasSubstr("times for their hops")) << spec;
    EXPECT_LE(synthesis.bound.gap(), 0.01) << spec;
  }
}

TEST(HopTimes, come_close_to_the_programme) {
  for (const char* spec : {"torus:3x3x3", "kautz:16:4"}) {
    const Topology topology = topology_of(spec);
    SynthesisOptions options;
    options.path_set = PathSet::bounded;
    const Routing paths = candidate_paths(topology, options).paths;
    const Step steps = most_hops(topology, paths);
    const double least = stepped_time(topology, time_expanded_flow(topology, steps, 1e9));
    const SteppedFlow flow = with_hop_times(topology, paths, steps, 0, 1e9);
    EXPECT_EQ(stepped_fault(topology, flow), "");
    EXPECT_GE(stepped_time(topology, flow), least * (1 - 1e-9)) << spec;
    EXPECT_LE(stepped_time(topology, flow), least * 1.01) << spec;
  }
}

TEST(SteppedFault, names_what_is_wrong) {
  const Topology path = topology_of("mesh:3");
  const auto fault = [&](std::vector<Step> far) {
    SteppedFlow flow(3);
    const ShortestPaths shortest(path);
    for (NodeId source = 0; source < 3; ++source)
      for (NodeId target = 0; target < 3; ++target) {
        if (source == target) continue;
        const auto links = shortest.path(source, target);
        flow.add(source, target, 1, links, links.size() == 1 ? std::vector<Step>{1} : far);
      }
    return stepped_fault(path, flow);
  };
  EXPECT_EQ(fault({1, 2}), "");
  EXPECT_THAT(fault({2, 2}), HasSubstr("0 to 2: link 1 -> 2 in step 2, after one in step 2"));

  const Topology star = topology_of("switch:2");
  SteppedFlow rests(2);
  const auto out = star.links_out(0).front(), in = star.links_in(1).front();
  rests.add(0, 1, 1, std::vector<LinkId>{out, in}, std::vector<Step>{1, 2});
  rests.add(1, 0, 1, std::vector<LinkId>{star.links_out(1).front(), star.links_in(0).front()}, std::vector<Step>{1, 1});
  EXPECT_THAT(stepped_fault(star, rests), HasSubstr("data rests in a switch since step 1"));
}

TEST(SteppedSchedule, verifies_runs_and_loads_links_as_the_flow_does) {
  for (const char* spec : {"torus:3x3", "kautz:12:3", "bipartite:3:3", "switch:5", "torus:3x3/host-bandwidth:2"}) {
    SCOPED_TRACE(spec);
    const Topology topology = topology_of(spec);
    const ChunkedSteps steps = chunked(topology, proved(topology).flow);
    EXPECT_EQ(stepped_fault(topology, steps.flow), "");
    EXPECT_NEAR(steps.time, stepped_time(topology, steps.flow), 1e-9);
    EXPECT_LE(steps.loss(), 0.02);
    const Schedule schedule = stepped_alltoall(spec, topology, steps);
    EXPECT_THAT(schedule, Verifies());
    EXPECT_TRUE(verify(schedule).stepped);
    EXPECT_EQ(schedule.steps(), steps.flow.steps());
    for (const Pace pace : {Pace::free, Pace::steps}) {
      Trial trial;
      trial.count = 70;
      trial.pace = pace;
      EXPECT_TRUE(runs_right(schedule, trial));
    }

    // By the routes of the messages every link carries, step by step, what the flow says.
    std::vector<double> times(static_cast<std::size_t>(steps.flow.steps()), 0);
    std::map<std::pair<Step, LinkId>, double> loads;
    std::vector<Route> routes;
    for (const Transfer& t : transfers(topology, steps, &routes)) {
      const auto route = std::find_if(routes.begin(), routes.end(), [&](const Route& r) {
        return r.source == t.from && r.target == t.to && r.lane == t.lane;
      });
      ASSERT_NE(route, routes.end());
      for (const LinkId link : route->links) loads[{t.step, link}] += 1.0 / steps.chunks;
    }
    const std::vector<double> capacity = capacities(topology);
    for (const auto& [place, load] : loads) {
      double& time = times[static_cast<std::size_t>(place.first) - 1];
      time = std::max(time, load / capacity[static_cast<std::size_t>(place.second)]);
    }
    EXPECT_NEAR(std::accumulate(times.begin(), times.end(), 0.0), steps.time, 1e-9);
  }
}

TEST(ExpandedGraph, keeps_hosts_and_passes_switches_within_a_step) {
  EXPECT_EQ(fewest_steps(topology_of("torus:3x3x3")), 3);
  EXPECT_EQ(fewest_steps(topology_of("torus:3x3x3/host-bandwidth:4")), 3);
  EXPECT_EQ(fewest_steps(topology_of("switch:6")), 1);
  const Topology star = topology_of("switch:3");
  const ExpandedGraph expanded(star, 2);
  EXPECT_EQ(expanded.graph().nodes(), 3 * 3 + 2 * 1);
  EXPECT_EQ(expanded.graph().links().size(), 2 * (star.links().size() + 3));
  EXPECT_EQ(distances_from(expanded.graph(), expanded.start(0))[0], 2);  // stays twice
  EXPECT_EQ(distances_from(expanded.graph(), expanded.start(0))[2], 3);  // out, in, stays once
}

}  // namespace
}  // namespace colltopo
