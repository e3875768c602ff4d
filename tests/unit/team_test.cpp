// The concurrent flow by a team: all members end with the same bounds, each has done its part, one has a routing that
// proves the flow.
#include <algorithm>
#include <numeric>

#include <gmock/gmock.h>

#include "synthesis/sweep/path_gauss_seidel.h"
#include "team_of_threads.h"

namespace colltopo {

using namespace synthesis;
namespace {

/// [rank] what each member ends with.
std::vector<FlowSolution> solve_together(const FlowInstance& instance, int ranks, SynthesisOptions options) {
  options.threads = 1;
  std::vector<FlowSolution> solutions(static_cast<std::size_t>(ranks));
  TeamOfThreads(ranks).run([&](Team& member) {
    SynthesisOptions own = options;
    own.team = &member;
    solutions[static_cast<std::size_t>(member.rank())] = path_gauss_seidel(instance, own);
  });
  return solutions;
}

/// One certified flow, known to all members to the last bit.
void expect_one_flow(const FlowInstance& instance, const std::vector<FlowSolution>& solutions, double gap) {
  const Topology& topology = *instance.topology;
  const FlowSolution& first = solutions.front();
  EXPECT_LE(first.gap(), gap);
  EXPECT_EQ(routing_fault(topology, first.routing), "");
  EXPECT_NEAR(all_to_all_time(topology, link_loads(topology, first.routing)), first.time, 1e-12 * first.time);
  EXPECT_NEAR(time_lower_bound(topology, first.class_lengths), first.time_lower, 1e-9 * first.time_lower);
  for (const FlowSolution& other : solutions) {
    EXPECT_EQ(other.time, first.time);
    EXPECT_EQ(other.time_lower, first.time_lower);
    EXPECT_EQ(other.class_lengths, first.class_lengths);
    EXPECT_EQ(other.loads, first.loads);
    EXPECT_EQ(other.trees, first.trees);
    if (&other != &first) {
      EXPECT_EQ(other.routing.paths(), 0U);
    }
  }
}

TEST(Team, certifies_one_flow_whatever_its_size) {
  const Topology graph = topology_of("kautz:90:4");
  const FlowInstance instance = whole_instance(graph);
  for (const int ranks : {1, 2, 3, 4}) {
    SCOPED_TRACE(ranks);
    SynthesisOptions options;
    options.gap = 0.002;
    expect_one_flow(instance, solve_together(instance, ranks, options), options.gap);
  }
}

TEST(Team, spreads_the_trees_evenly) {
  const Topology graph = topology_of("kautz:90:4");
  const FlowInstance instance = whole_instance(graph);
  const FlowSolution solution = solve_together(instance, 4, {}).front();
  ASSERT_EQ(solution.trees.size(), 4U);
  const auto [least, most] = std::minmax_element(solution.trees.begin(), solution.trees.end());
  // 90 sources: two members have 23 and two have 22, in every sweep.
  EXPECT_EQ(*least % 22, 0U);
  EXPECT_EQ(*least / 22, *most / 23);
  EXPECT_EQ(std::accumulate(solution.trees.begin(), solution.trees.end(), std::uint64_t{0}), *least / 22 * 90);
}

TEST(Team, needs_hardly_more_trees_than_one_member) {
  const Topology graph = topology_of("kautz:600:4");
  const FlowInstance instance = whole_instance(graph);
  const auto trees = [&](int ranks) {
    const FlowSolution solution = solve_together(instance, ranks, {}).front();
    EXPECT_LE(solution.gap(), 0.01);
    return std::accumulate(solution.trees.begin(), solution.trees.end(), std::uint64_t{0});
  };
  EXPECT_LE(trees(3), trees(1) * 3 / 2);
}

TEST(Team, converges_when_a_fifth_of_all_sources_move_at_once) {
  const Topology graph = topology_of("kautz:40:4");
  const FlowInstance instance = whole_instance(graph);
  expect_one_flow(instance, solve_together(instance, 8, {}), 0.01);
}

TEST(Team, may_have_members_without_sources) {
  const Topology line = topology_of("mesh:3");
  const FlowInstance instance = whole_instance(line);
  expect_one_flow(instance, solve_together(instance, 4, {}), 0.01);
}

TEST(Team, starts_from_a_routing) {
  const Topology graph = topology_of("kautz:60:4");
  const FlowInstance instance = whole_instance(graph);
  SynthesisOptions options;
  const Routing start = path_gauss_seidel(instance, options).routing;
  options.gap = 0.001;
  options.start = &start;
  expect_one_flow(instance, solve_together(instance, 3, options), options.gap);
}

TEST(Team, ends_together_when_the_clock_of_one_member_says_so) {
  const Topology graph = topology_of("kautz:60:4");
  const FlowInstance instance = whole_instance(graph);
  std::vector<FlowSolution> solutions(3);
  TeamOfThreads(3).run([&](Team& member) {
    SynthesisOptions own;
    own.threads = 1;
    own.team = &member;
    own.gap = 1e-15;
    own.seconds = member.rank() == 1 ? 1e-9 : 1e9;
    solutions[static_cast<std::size_t>(member.rank())] = path_gauss_seidel(instance, own);
  });
  expect_one_flow(instance, solutions, 10);
  // The distance bound, the first sweep, and the two sweeps of the one round.
  EXPECT_EQ(solutions.front().trees, std::vector<std::uint64_t>({80, 80, 80}));
}

}  // namespace
}  // namespace colltopo
