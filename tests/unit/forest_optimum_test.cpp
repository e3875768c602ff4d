// The optimum of allgather: figures of Zhao et al., and every cut of small networks.
#include <algorithm>
#include <cmath>
#include <random>

#include <gmock/gmock.h>

#include "colltopo/error.h"
#include "colltopo/forest.h"
#include "switched_networks.h"

namespace colltopo {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

double algorithmic_GBps(const char* spec) { return forest_optimum(topology_of(spec)).algorithmic_bandwidth() / 1e9; }

TEST(ForestOptimum, of_gpu_boxes_is_that_of_the_paper) {
  EXPECT_NEAR(algorithmic_GBps("dgx-a100:1"), 342.857, 0.001);
  EXPECT_NEAR(algorithmic_GBps("dgx-a100:2"), 346.667, 0.001);
  EXPECT_NEAR(algorithmic_GBps("dgx-a100:4"), 266.667, 0.001);
  EXPECT_NEAR(algorithmic_GBps("mi250:1"), 342.857, 0.001);
  EXPECT_NEAR(algorithmic_GBps("mi250:2"), 354.133, 0.001);
}

TEST(ForestOptimum, of_two_mi250_boxes_needs_83_trees_and_two_trees_come_near) {
  const Topology boxes = topology_of("mi250:2");
  EXPECT_EQ(forest_optimum(boxes).trees, 83);
  EXPECT_NEAR(fixed_forest(boxes, 2).algorithmic_bandwidth() / 1e9, 341.333, 0.001);
  EXPECT_NEAR(fixed_forest(boxes, 83).algorithmic_bandwidth() / 1e9, 354.133, 0.001);
}

/// Hosts inside over bandwidth out, the largest over all sets of nodes.
Ratio narrowest_of_all(const Topology& topology) {
  std::int64_t hosts = 0, bandwidth = 1;
  for (unsigned inside = 0; inside < 1U << topology.nodes(); ++inside) {
    std::int64_t hosts_inside = 0, out = 0;
    for (NodeId host = 0; host < topology.hosts(); ++host) hosts_inside += inside >> host & 1;
    if (hosts_inside == 0 || hosts_inside == topology.hosts()) continue;
    for (const Link& link : topology.links())
      if ((inside >> link.tail & 1) != 0 && (inside >> link.head & 1) == 0) out += std::llround(link.bandwidth);
    if (hosts_inside * bandwidth > hosts * out) hosts = hosts_inside, bandwidth = out;
  }
  return {hosts, bandwidth};
}

TEST(ForestOptimum, is_the_narrowest_of_all_cuts) {
  std::mt19937 random(3);
  for (unsigned seed = 0; seed < 60; ++seed) {
    const auto hosts = static_cast<NodeId>(2 + random() % 6), switches = static_cast<NodeId>(random() % 5);
    const Topology topology = switched_network(hosts, switches, static_cast<int>(random() % 10), seed);
    const ForestOptimum optimum = forest_optimum(topology);
    const Ratio narrowest = narrowest_of_all(topology);
    EXPECT_EQ(optimum.inverse_x.numerator * narrowest.denominator,
              optimum.inverse_x.denominator * std::llround(optimum.unit) * narrowest.numerator)
        << "seed " << seed;
  }
}

TEST(ForestOptimum, names_a_cut_that_attains_it) {
  for (const char* spec : {"dgx-a100:2", "dgx-a100:4", "mi250:2", "torus:3x3", "fattree:4"}) {
    const Topology topology = topology_of(spec);
    const ForestOptimum optimum = forest_optimum(topology);
    std::int64_t hosts_inside = 0;
    double out = 0;
    for (NodeId host = 0; host < topology.hosts(); ++host)
      hosts_inside += optimum.inside[static_cast<std::size_t>(host)];
    for (const Link& link : topology.links())
      if (optimum.inside[static_cast<std::size_t>(link.tail)] && !optimum.inside[static_cast<std::size_t>(link.head)])
        out += link.bandwidth;
    EXPECT_LT(hosts_inside, topology.hosts()) << spec;
    EXPECT_EQ(hosts_inside, optimum.hosts_inside) << spec;
    EXPECT_EQ(out, static_cast<double>(optimum.bandwidth_out) * optimum.unit) << spec;
    EXPECT_EQ(optimum.hosts_inside * optimum.inverse_x.denominator, optimum.inverse_x.numerator * optimum.bandwidth_out)
        << spec;
  }
}

TEST(ForestOptimum, is_the_same_on_any_number_of_threads) {
  const Topology topology = topology_of("mi250:4");
  const ForestOptimum one = forest_optimum(topology, 1), three = forest_optimum(topology, 3);
  EXPECT_EQ(one.inverse_x, three.inverse_x);
  EXPECT_EQ(one.inside, three.inside);
}

TEST(ForestOptimum, does_not_round_bandwidths_of_few_common_factors) {
  TopologyBuilder builder("two hosts", 2);
  builder.link(0, 1, 99'999'999'977.0).link(1, 0, 100'000'000'003.0);
  const ForestOptimum optimum = forest_optimum(std::move(builder).build());
  EXPECT_EQ(optimum.inverse_x, (Ratio{1, 99'999'999'977}));
}

TEST(FixedForest, is_the_least_ratio_by_trying_all) {
  for (unsigned seed = 0; seed < 25; ++seed) {
    const Topology topology = switched_network(4, 2, 4, seed);
    for (std::int64_t trees = 1; trees <= 3; ++trees) {
      const FixedForest fixed = fixed_forest(topology, trees);
      // Every cut must hold with it, and some cut must fail with the next smaller multiple of 1 / (any bandwidth).
      const auto holds = [&](double ratio) {
        for (unsigned inside = 0; inside < 1U << topology.nodes(); ++inside) {
          const std::int64_t hosts_inside = __builtin_popcount(inside & 15U);
          if (hosts_inside == 4) continue;
          std::int64_t out = 0;
          for (const Link& link : topology.links())
            if ((inside >> link.tail & 1) != 0 && (inside >> link.head & 1) == 0)
              out += static_cast<std::int64_t>(std::floor(ratio * std::round(link.bandwidth / 1e9) + 1e-9));
          if (out < hosts_inside * trees) return false;
        }
        return true;
      };
      const double ratio = fixed.capacity_per_unit.value() * 1e9 / fixed.unit;  // per GB/s
      EXPECT_TRUE(holds(ratio)) << "seed " << seed << ", " << trees << " trees";
      EXPECT_FALSE(holds(ratio - 1e-3)) << "seed " << seed << ", " << trees << " trees";
    }
  }
}

TEST(FixedForest, is_never_better_than_the_optimum_and_attains_it_with_its_trees) {
  for (const char* spec : {"dgx-a100:2", "mi250:1", "torus:3x3"}) {
    const Topology topology = topology_of(spec);
    const ForestOptimum optimum = forest_optimum(topology);
    for (std::int64_t trees = 1; trees < 5; ++trees)
      EXPECT_GE(fixed_forest(topology, trees).seconds_per_byte(), optimum.seconds_per_byte() * (1 - 1e-12)) << spec;
    EXPECT_EQ(fixed_forest(topology, optimum.trees).capacity_per_unit, optimum.capacity_per_unit) << spec;
  }
}

TEST(ForestOptimum, of_a_bcast_is_the_narrowest_cut_from_the_root) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    const Topology topology =
        switched_network(static_cast<NodeId>(2 + seed % 4), static_cast<NodeId>(seed % 4), 3, seed);
    for (NodeId root = 0; root < topology.hosts(); ++root) {
      double narrowest = 1e300;
      for (unsigned inside = 0; inside < 1U << topology.nodes(); ++inside) {
        const unsigned all = (1U << topology.hosts()) - 1;
        if ((inside >> root & 1) == 0 || (inside & all) == all) continue;
        double out = 0;
        for (const Link& link : topology.links())
          if ((inside >> link.tail & 1) != 0 && (inside >> link.head & 1) == 0) out += link.bandwidth;
        narrowest = std::min(narrowest, out);
      }
      const ForestOptimum optimum = bcast_optimum(topology, root);
      EXPECT_DOUBLE_EQ(optimum.seconds_per_byte(), 1 / narrowest) << "seed " << seed << " root " << root;
      EXPECT_EQ(optimum.roots_inside, 1);
      EXPECT_TRUE(optimum.inside[static_cast<std::size_t>(root)]);
      EXPECT_DOUBLE_EQ(fixed_bcast(topology, root, optimum.trees).seconds_per_byte(), 1 / narrowest);
    }
  }
  EXPECT_THAT([] { bcast_optimum(topology_of("ring:4"), 4); },
              ThrowsMessage<Error>(HasSubstr("root 4; expected a host of ring:4, 0..3")));
}

TEST(ForestOptimum, is_attained_where_no_switch_lets_out_more_than_comes_in) {
  EXPECT_TRUE(is_attained(topology_of("dgx-a100:2")));
  EXPECT_TRUE(is_attained(topology_of("kautz:9:2")));
  TopologyBuilder builder("a switch that would have to copy", 3, 1);
  builder.link(0, 3, 1e9).link(3, 1, 1e9).link(3, 2, 1e9).link(1, 3, 1e6).link(2, 3, 1e6).link(3, 0, 1e6);
  const Topology topology = std::move(builder).build();
  NodeId greedy = -1;
  EXPECT_FALSE(is_attained(topology, &greedy));
  EXPECT_EQ(greedy, 3);
  EXPECT_TRUE(is_attained(transposed(topology)));
}

/// Two hosts with a cable each way.
Topology cable(double bandwidth, double back) {
  TopologyBuilder builder("cable", 2);
  builder.link(0, 1, bandwidth).link(1, 0, back);
  return std::move(builder).build();
}

TEST(ForestOptimum, does_not_round_slow_links_away) {
  EXPECT_DOUBLE_EQ(forest_optimum(cable(1.4, 1.4)).seconds_per_byte(), 1 / 1.4);
  EXPECT_DOUBLE_EQ(bcast_optimum(cable(0.125, 3), 0).seconds_per_byte(), 8);
  EXPECT_NEAR(forest_optimum(cable(1.0 / 3, 1e9)).seconds_per_byte(), 3, 3e-6);
}

TEST(ForestOptimum, refuses_bandwidths_that_do_not_fit_into_its_numbers) {
  EXPECT_THAT([] { forest_optimum(cable(1e-3, 1e17)); },
              ThrowsMessage<Error>(HasSubstr("trees need bandwidths less than 1e+12 apart")));
  TopologyBuilder builder("many thick links", 2);
  for (int i = 0; i < 12; ++i) builder.link(0, 1, 1e18);
  builder.link(1, 0, 1'000'001);
  EXPECT_THAT([topology = std::move(builder).build()] { forest_optimum(topology); },
              ThrowsMessage<Error>(HasSubstr("bytes per second together; trees need sums below")));
  EXPECT_DOUBLE_EQ(bcast_optimum(topology_of("complete:12/bandwidth:1e18Bps"), 0).seconds_per_byte(), 1 / 11e18);
}

TEST(ForestOptimum, refuses_networks_that_have_none) {
  EXPECT_THAT([] { forest_optimum(TopologyBuilder("one host", 1).build()); },
              ThrowsMessage<Error>(HasSubstr("1 host; trees need at least 2")));
  EXPECT_THAT(
      [] {
        TopologyBuilder builder("one way", 2);
        builder.link(0, 1);
        forest_optimum(std::move(builder).build());
      },
      ThrowsMessage<Error>(HasSubstr("one way")));
  EXPECT_THAT([] { fixed_forest(topology_of("ring:4"), 0); },
              ThrowsMessage<Error>(HasSubstr("0 trees per root; expected 1 or more")));
}

}  // namespace
}  // namespace colltopo
