// The best mean of the flows of several rounds.
#include "synthesis/sweep/kept_flow.h"

#include <gmock/gmock.h>

#include <numeric>

#include "colltopo/demand.h"
#include "synthesis/sweep/flow_sweep.h"
#include "synthesis/sweep/path_gauss_seidel.h"
#include "team_of_threads.h"

namespace colltopo {

using namespace synthesis;
namespace {

using testing::DoubleNear;
using testing::Pointwise;

using Paths = std::vector<std::pair<double, std::vector<LinkId>>>;

/// [target] its paths.
PathPool pool_of(const std::vector<Paths>& targets) {
  PathPool pool;
  for (const Paths& paths : targets) {
    for (const auto& [weight, links] : paths) pool.add(weight, links);
    pool.end_target();
  }
  return pool;
}

Paths paths_of(const PathPool& pool, NodeId target) {
  Paths paths;
  for (std::size_t path = pool.first(target); path < pool.first(target + 1); ++path)
    paths.emplace_back(pool.weight(path), std::vector<LinkId>(pool.links(path).begin(), pool.links(path).end()));
  return paths;
}

TEST(PathPool, between_two_flows_equal_paths_are_one) {
  const PathPool one = pool_of({{}, {{0.75, {1, 2}}, {0.25, {3}}}, {{1, {4}}}});
  const PathPool other = pool_of({{}, {{1, {3}}, {1e-12, {7}}}, {{2, {5}}, {2, {4}}}});
  const PathPool all = between(one, other, 0.2);
  ASSERT_EQ(all.targets(), 3U);
  EXPECT_EQ(paths_of(all, 0), Paths());
  const Paths first = paths_of(all, 1), second = paths_of(all, 2);
  ASSERT_EQ(first.size(), 2U) << "dust is no path";
  EXPECT_EQ(first[0].second, (std::vector<LinkId>{1, 2}));
  EXPECT_THAT(first[0].first, DoubleNear(0.6, 1e-12));
  EXPECT_EQ(first[1].second, (std::vector<LinkId>{3}));
  EXPECT_THAT(first[1].first, DoubleNear(0.4, 1e-12));
  ASSERT_EQ(second.size(), 2U);
  EXPECT_THAT(second[0].first, DoubleNear(0.9, 1e-12)) << "shares of what a target has, whatever they sum to";
  EXPECT_THAT(second[1].first, DoubleNear(0.1, 1e-12));
}

/// Two hosts with two links from the first to the second, of capacity 1 and 2.
FlowInstance two_ways(const Topology& topology) {
  FlowInstance instance;
  instance.topology = &topology;
  instance.sources = {0};
  instance.multiplicity = {1};
  instance.link_class = {0, 1};
  instance.class_capacity = {1, 2};
  return instance;
}

/// Of 64 hosts, by Zipf's law.
Demand few_with_most() {
  Demand demand(64);
  for (NodeId source = 0; source < 64; ++source)
    for (NodeId target = 0; target < 64; ++target)
      if (source != target) demand.add(source, target, 1000.0 / (1 + (17 * source + 29 * target) % 64));
  return demand;
}

TEST(KeptFlow, goes_as_far_towards_a_flow_as_loads_fall) {
  const Topology topology = topology_of("ring:2");
  const FlowInstance instance = two_ways(topology);
  const std::vector<PathPool> by_first = {pool_of({{}, {{1, {0}}}})}, by_second = {pool_of({{}, {{1, {1}}}})};
  KeptFlow kept(instance, Answer::routing, 1);
  EXPECT_EQ(kept.time(), std::numeric_limits<double>::infinity());
  kept.take(by_first, {3, 0});
  EXPECT_EQ(kept.time(), 3);
  kept.take(by_second, {0, 3});
  EXPECT_THAT(kept.time(), DoubleNear(1, 1e-6));
  EXPECT_THAT(kept.loads(), Pointwise(testing::DoubleNear(1e-6), {1.0, 2.0}));
  kept.take(by_first, {3, 0});
  kept.take(by_second, {0, 3});
  EXPECT_THAT(kept.time(), DoubleNear(1, 1e-6)) << "what is worse has no part";
  const std::vector<PathPool> pools = kept.release();
  ASSERT_EQ(pools.size(), 1U);
  const Paths paths = paths_of(pools[0], 1);
  ASSERT_EQ(paths.size(), 2U);
  EXPECT_THAT(paths[0].first, DoubleNear(1.0 / 3, 1e-6));
  EXPECT_THAT(paths[1].first, DoubleNear(2.0 / 3, 1e-6));
}

TEST(KeptFlow, has_loads_alone_for_who_wants_no_routing) {
  const Topology topology = topology_of("ring:2");
  const FlowInstance instance = two_ways(topology);
  KeptFlow kept(instance, Answer::loads, 1);
  kept.take({pool_of({{}, {{1, {0}}}})}, {3, 0});
  kept.take({pool_of({{}, {{1, {1}}}})}, {0, 3});
  EXPECT_THAT(kept.time(), DoubleNear(1, 1e-6));
  EXPECT_EQ(kept.release().size(), 0U);
}

// In hand are shortest paths, kept is what lies between them and a sweep more.
TEST(KeptFlow, is_the_answer_where_it_is_better) {
  const Topology topology = topology_of("kautz:40:4");
  const FlowInstance instance = whole_instance(topology);
  for (const int ranks : {1, 3}) {
    SCOPED_TRACE(ranks);
    std::vector<FlowSolution> solutions(static_cast<std::size_t>(ranks));
    std::vector<double> in_hand(solutions.size()), best(solutions.size());
    TeamOfThreads(ranks).run([&](Team& member) {
      SynthesisOptions options;
      options.threads = 1;
      if (ranks > 1) options.team = &member;
      const auto self = static_cast<std::size_t>(member.rank());
      KeptFlow kept(instance, Answer::routing, 1);
      FlowSweep better(instance, options), shortest(instance, options);
      for (FlowSweep* const sweep : {&better, &shortest}) {
        sweep->potential().set(1, 1);
        sweep->sweep_with_new_paths({});
      }
      kept.take(better.pools(), better.loads());
      better.potential().set(10, better.potential().largest());
      better.sweep_with_new_paths({});
      kept.take(better.pools(), better.loads());
      in_hand[self] = instance.time_of(shortest.loads());
      best[self] = kept.time();
      solutions[self] = shortest.solution(1, {}, Answer::routing, &kept);
    });
    const double time = solutions.front().time;
    ASSERT_LT(best.front(), 0.99 * in_hand.front());
    EXPECT_THAT(solutions, testing::Each(testing::Field(&FlowSolution::time, time)));
    EXPECT_THAT(best, testing::Each(DoubleNear(time, 1e-9 * time)));
    EXPECT_THAT(class_loads(instance, solutions.front().routing),
                Pointwise(testing::DoubleNear(1e-12 * time), solutions.front().loads));
  }
}

// Far from any flow in hand, a mean of hundreds comes near.
TEST(KeptFlow, comes_nearer_than_a_flow_in_hand_that_bounces) {
  const Topology topology = topology_of("torus:4x4x4");
  const Demand demand = few_with_most();
  const FlowInstance instance = whole_instance(topology, &demand);
  SynthesisOptions options;
  options.gap = 1e-15;
  options.threads = 1;
  double best = std::numeric_limits<double>::infinity(), nearest_of_progress = 1;
  options.progress = [&](const FlowBound& bound) {
    if (nearest_of_progress < 0.05) {
      EXPECT_LE(bound.time, best * (1 + 1e-12)) << "what is kept gets no worse";
    }
    best = bound.time;
    nearest_of_progress = bound.gap();
  };
  const FlowSolution solution = path_gauss_seidel(instance, options, Answer::loads);
  EXPECT_LE(solution.gap(), nearest_of_progress * (1 + 1e-9));
  EXPECT_LT(solution.gap(), 1e-3);
}

// Few pairs have most of the traffic, so the flow in hand bounces; the routing must carry what the mean claims.
TEST(KeptFlow, a_routing_of_the_mean_carries_what_it_claims) {
  const Topology topology = topology_of("torus:4x4x4");
  const Demand demand = few_with_most();
  const FlowInstance instance = whole_instance(topology, &demand);
  for (const int threads : {1, 3}) {
    SynthesisOptions options;
    options.gap = 0.002;
    options.threads = threads;
    const FlowSolution with = path_gauss_seidel(instance, options, Answer::routing);
    const FlowSolution without = path_gauss_seidel(instance, options, Answer::loads);
    EXPECT_LE(with.gap(), 0.002);
    EXPECT_THAT(without.time, DoubleNear(with.time, 1e-9 * with.time));
    EXPECT_THAT(class_loads(instance, with.routing), Pointwise(testing::DoubleNear(1e-12 * with.time), with.loads));
    EXPECT_THAT(time_lower_bound(instance, with.class_lengths, 1), DoubleNear(with.time_lower, 1e-9 * with.time));
    EXPECT_EQ(instance.time_of(with.loads), with.time);
  }
}

}  // namespace
}  // namespace colltopo
