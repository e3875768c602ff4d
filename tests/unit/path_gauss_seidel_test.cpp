// The concurrent flow by path Gauss-Seidel: exact optima lie between its bounds, its routings carry what they claim.
#include <algorithm>
#include <cmath>
#include <utility>

#include <gmock/gmock.h>

#include "colltopo/error.h"
#include "synthesis/sweep/link_potential.h"
#include "synthesis/sweep/path_gauss_seidel.h"
#include "synthesis/sweep/round_control.h"

namespace colltopo {

using namespace synthesis;
namespace {

using testing::HasSubstr;

FlowSolution solve(const Topology& topology, double gap, int threads = 1) {
  SynthesisOptions options;
  options.gap = gap;
  options.threads = threads;
  return path_gauss_seidel(whole_instance(topology), options);
}

/// Both bounds hold `inverse_f`, are as near as asked, and the routing and the lengths prove them.
void expect_optimum(const Topology& topology, double inverse_f) {
  constexpr double k_gap = 0.001;
  const FlowSolution solution = solve(topology, k_gap);
  EXPECT_LE(solution.gap(), k_gap);
  EXPECT_GE(solution.time, inverse_f * (1 - 1e-6));
  EXPECT_LE(solution.time_lower, inverse_f * (1 + 1e-6));
  EXPECT_EQ(routing_fault(topology, solution.routing), "");
  EXPECT_NEAR(all_to_all_time(topology, link_loads(topology, solution.routing)), solution.time, 1e-12 * inverse_f);
  EXPECT_NEAR(time_lower_bound(topology, solution.class_lengths), solution.time_lower, 1e-9 * inverse_f);
}

TEST(PathGaussSeidel, brackets_the_optimum_of_tori) {
  expect_optimum(topology_of("torus:3x3x3"), 9);
  expect_optimum(topology_of("torus:8x8"), 64);
}

TEST(PathGaussSeidel, brackets_the_optimum_of_generalized_kautz_graphs) {
  expect_optimum(topology_of("kautz:16:4"), 7.571429);
  expect_optimum(topology_of("kautz:32:4"), 21.25);
  expect_optimum(topology_of("kautz:64:4"), 46.066667);
  expect_optimum(topology_of("kautz:100:4"), 80.928571);
}

TEST(PathGaussSeidel, reaches_a_ten_thousandth_without_symmetry) {
  const FlowSolution solution = solve(topology_of("kautz:256:4"), 1e-4);
  EXPECT_LE(solution.gap(), 1e-4);
  EXPECT_GE(solution.time, 247.7);
  EXPECT_LE(solution.time_lower, 247.71);
}

TEST(PathGaussSeidel, lets_switches_relay_but_sends_them_nothing) {
  // Four hosts on a switch: every cable carries three units either way.
  TopologyBuilder builder("switch", 4, 1);
  for (NodeId host = 0; host < 4; ++host) builder.cable(host, 4);
  expect_optimum(std::move(builder).build(), 3);
}

TEST(PathGaussSeidel, uses_links_by_their_capacity) {
  // Two hosts joined by parallel links of speeds 3 and 1: the unit splits 3 to 1, and the slow link takes 1/4.
  TopologyBuilder builder("parallel", 2);
  builder.link(0, 1, 3e9).link(0, 1, 1e9).link(1, 0, 3e9).link(1, 0, 1e9);
  expect_optimum(std::move(builder).build(), 0.25);
}

TEST(PathGaussSeidel, knows_loads_without_a_routing) {
  const Topology graph = topology_of("kautz:300:4");
  const FlowInstance instance = whole_instance(graph);
  SynthesisOptions options;
  options.gap = 0.02;
  const FlowSolution loads = path_gauss_seidel(instance, options, Answer::loads);
  const FlowSolution routing = path_gauss_seidel(instance, options);
  EXPECT_EQ(loads.routing.paths(), 0U);
  EXPECT_NEAR(loads.time, routing.time, 1e-9 * routing.time);
  const std::vector<double> of_routing = class_loads(instance, routing.routing);
  for (std::size_t link = 0; link < of_routing.size(); ++link)
    EXPECT_NEAR(loads.loads[link], of_routing[link], 1e-9 * routing.time * instance.class_capacity[link]);
}

TEST(PathGaussSeidel, is_the_same_on_any_number_of_threads) {
  const Topology graph = topology_of("kautz:600:4");
  const FlowSolution one = solve(graph, 0.005, 1), three = solve(graph, 0.005, 3);
  EXPECT_EQ(one.time, three.time);
  EXPECT_EQ(one.time_lower, three.time_lower);
  EXPECT_EQ(one.class_lengths, three.class_lengths);
  EXPECT_EQ(one.routing.paths(), three.routing.paths());
}

struct Rounds {
  FlowSolution solution;
  int count = 0;
};

Rounds rounds_to(const Topology& topology, double gap, const Demand* traffic = nullptr) {
  Rounds rounds;
  SynthesisOptions options;
  options.gap = gap;
  options.progress = [&](const FlowBound&) { ++rounds.count; };
  rounds.solution = path_gauss_seidel(whole_instance(topology, traffic), options, Answer::loads);
  EXPECT_LE(rounds.solution.gap(), gap);
  return rounds;
}

TEST(PathGaussSeidel, finds_the_cut_that_limits_a_torus_without_some_links) {
  for (const char* const spec : {"torus:16x16/drop-links:1:1", "torus:16x16/drop-links:5:1"}) {
    const Topology topology = topology_of(spec);
    const auto [solution, rounds] = rounds_to(topology, 0.01);
    EXPECT_LE(rounds, 2) << "4 by lengths alone";
    EXPECT_GT(std::ranges::count(solution.class_lengths, 0.0), 900) << "of 1024 links, more or less";
    EXPECT_NEAR(time_lower_bound(topology, solution.class_lengths), solution.time_lower, 1e-9 * solution.time);
  }
}

TEST(PathGaussSeidel, cuts_peaks_where_the_rest_is_proved) {
  EXPECT_LE(rounds_to(topology_of("kautz:600:4"), 0.001).count, 11) << "10; 12 where nobody cuts them";
}

TEST(PathGaussSeidel, is_not_kept_from_the_optimum_by_cutting) {
  // What a sharp potential comes to is 0.2% above it here, round after round.
  struct Cable {
    NodeId one, other;
    double gb_per_s;
  };
  TopologyBuilder builder("one pair", 2, 3);
  for (const auto& [one, other, gb_per_s] : std::initializer_list<Cable>{{4, 3, 2},
                                                                         {4, 3, 1},
                                                                         {0, 3, 2},
                                                                         {1, 3, 2},
                                                                         {3, 1, 1},
                                                                         {4, 0, 1},
                                                                         {4, 0, 1},
                                                                         {4, 1, 1},
                                                                         {4, 3, 2},
                                                                         {3, 0, 1},
                                                                         {0, 4, 2},
                                                                         {0, 1, 1},
                                                                         {4, 2, 2},
                                                                         {4, 0, 1}})
    builder.link(one, other, gb_per_s * 1e9).link(other, one, gb_per_s * 1e9);
  const Topology topology = std::move(builder).build();
  Demand demand(2);
  demand.add(0, 1, 2);
  EXPECT_LE(rounds_to(topology, 0.001, &demand).count, 100);
}

TEST(PathGaussSeidel, starts_from_what_remains_of_a_routing) {
  // A torus loses its links 0 -> 1 and 1 -> 0; the links behind them move up.
  const Topology whole = topology_of("torus:6x6");
  SynthesisOptions options;
  const FlowSolution before = path_gauss_seidel(whole_instance(whole), options);
  TopologyBuilder builder("broken torus", whole.hosts());
  std::vector<LinkId> number;  // [link of the whole torus] in the broken one; -1: gone
  LinkId next = 0;
  for (const Link& link : whole.links()) {
    const bool gone = link.tail + link.head == 1;
    number.push_back(gone ? -1 : next++);
    if (!gone) builder.link(link.tail, link.head);
  }
  const Topology broken = std::move(builder).build();
  Routing mapped(whole.hosts());
  for (std::size_t i = 0; i < before.routing.paths(); ++i) {
    const WeightedPath path = before.routing.path(i);
    std::vector<LinkId> links;
    for (const LinkId link : path.links) links.push_back(number[static_cast<std::size_t>(link)]);
    mapped.add(path.source, path.target, path.weight, links);
  }
  int rounds = 0;
  options.progress = [&](const FlowBound&) { ++rounds; };
  path_gauss_seidel(whole_instance(broken), options);
  const int rounds_from_nothing = std::exchange(rounds, 0);
  options.start = &mapped;
  const FlowSolution after = path_gauss_seidel(whole_instance(broken), options);
  EXPECT_LT(rounds, rounds_from_nothing);
  EXPECT_LE(after.gap(), options.gap);
  EXPECT_EQ(routing_fault(broken, after.routing), "");
}

TEST(RoundControl, stalls_after_two_fine_rounds_or_a_coarse_one_that_come_no_nearer) {
  const SynthesisOptions options;
  RoundControl control(options);
  LinkPotential potential(std::vector<double>{1, 1});
  const auto round = [&](double gap, bool fits = false) {
    control.sharpen(potential, gap, fits);
    EXPECT_FALSE(control.ended(gap, gap / 2, false)) << "a mean may be nearer";
    return control.stalls();
  };
  EXPECT_FALSE(round(0.2));
  EXPECT_FALSE(round(0.1));
  EXPECT_TRUE(round(0.2));
  EXPECT_TRUE(round(0.1));
  EXPECT_FALSE(round(0.1, true)) << "sharper, and so may come no nearer";
  EXPECT_TRUE(round(0.1));
  EXPECT_FALSE(round(0.05)) << "fine from here on";
  EXPECT_TRUE(control.fine());
  EXPECT_FALSE(round(0.04));
  EXPECT_FALSE(round(0.04));
  EXPECT_TRUE(round(0.05));
  EXPECT_FALSE(round(0.05));
  EXPECT_FALSE(round(0.01));
}

TEST(LinkPotential, a_copy_takes_lengths_and_rates_and_counts_loads_from_nothing) {
  LinkPotential master(std::vector<double>{1, 2});
  master.set(8, 1);
  master.add(0, 0.5);
  std::vector<LinkPotential> copies(2, master);
  for (const double companions : {1.0, 4.0}) {
    for (LinkPotential& copy : copies) copy.restart_from(master, companions);
    EXPECT_DOUBLE_EQ(copies[0].rate(1), companions * master.rate(1));
    EXPECT_EQ(copies[0].length(0), master.length(0));
    copies[0].add(1, 0.01);
    copies[1].add(1, 0.02);
    std::vector<double> changes(2);
    LinkPotential::changes(copies, 0, 2, changes);
    EXPECT_THAT(changes, testing::ElementsAre(0, testing::DoubleEq(0.03)));
  }
  const double length = master.length(1);
  master.apply(std::vector<double>{0, 0.03}, 0, 2);
  EXPECT_DOUBLE_EQ(master.loads()[1], 0.03);
  EXPECT_DOUBLE_EQ(master.length(1), length * std::exp(0.03 * master.rate(1)));
}

TEST(PathGaussSeidel, names_hosts_that_are_cut_off) {
  TopologyBuilder builder("two parts", 5);
  builder.cable(0, 1).cable(1, 2).link(2, 3);
  const Topology parts = std::move(builder).build();
  try {
    solve(parts, 0.01);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("two parts: hosts 3, 4 cannot reach host 0"));
  }
}

}  // namespace
}  // namespace colltopo
