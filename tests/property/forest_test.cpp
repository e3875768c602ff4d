// Forests on networks of every kind: packed, proved, run on numbers, and no link loaded above the bound.
#include <algorithm>
#include <random>

#include <gmock/gmock.h>

#include "colltopo/allreduce_bound.h"
#include "colltopo/cost.h"
#include "colltopo/error.h"
#include "colltopo/forest.h"
#include "schedules.h"
#include "switched_networks.h"

namespace colltopo {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr Collective k_collectives_of_trees[] = {Collective::allgather, Collective::reduce_scatter,
                                                 Collective::allreduce, Collective::bcast, Collective::reduce};

double busiest_s_per_byte(const Schedule& schedule, const Topology& topology) {
  const std::vector<double> loads = link_loads(schedule, topology);
  double busiest = 0;
  for (std::size_t link = 0; link < loads.size(); ++link)
    busiest = std::max(busiest, loads[link] / topology.links()[link].bandwidth);
  return busiest;
}

/// Links one way, of unequal bandwidth: a ring through all nodes in a random order, and more.
Topology one_way_network(NodeId hosts, NodeId switches, int more, unsigned seed) {
  std::mt19937 random(seed);
  TopologyBuilder builder("random one-way network", hosts, switches);
  std::vector<NodeId> ring;
  for (NodeId node = 0; node < hosts + switches; ++node) ring.push_back(node);
  std::ranges::shuffle(ring, random);
  const auto bandwidth = [&] { return 1e9 * static_cast<double>(1 + random() % 3); };
  for (std::size_t i = 0; i < ring.size(); ++i) builder.link(ring[i], ring[(i + 1) % ring.size()], bandwidth());
  for (int i = 0; i < more; ++i) {
    const std::size_t tail = random() % ring.size(), head = random() % ring.size();
    if (tail != head) builder.link(ring[tail], ring[head], bandwidth());
  }
  return std::move(builder).build();
}

Forest packed(const Topology& topology, Collective collective, ForestOptions options = {}) {
  options.collective = collective;
  return collective == Collective::allreduce ? pack_allreduce(topology, options) : pack_forest(topology, options);
}

/// Proved, on its network, and as fast as the forest says, which is returned.
double expect_right(const Topology& topology, Collective collective, const ForestOptions& options = {}) {
  SCOPED_TRACE(topology.name() + " " + std::string(name(collective)));
  const Forest forest = packed(topology, collective, options);
  const Schedule schedule = forest_schedule(topology, forest);
  EXPECT_EQ(schedule.shape.collective, collective);
  EXPECT_THAT(schedule, Verifies());
  const std::vector<Violation> misfits = verify_on(schedule, topology);
  EXPECT_TRUE(misfits.empty()) << to_string(misfits.front());
  const double seconds = busiest_s_per_byte(schedule, topology);
  EXPECT_LE(seconds, forest.seconds_per_byte * (1 + 1e-9));
  return seconds;
}

void expect_all_right(const Topology& topology, ForestOptions options = {}) {
  for (const Collective collective : k_collectives_of_trees) {
    options.root = rooted(collective) ? topology.hosts() / 2 : 0;
    expect_right(topology, collective, options);
  }
}

/// What no schedule along trees beats.
double bound_of(const Topology& topology, Collective collective, NodeId root) {
  if (collective == Collective::allreduce) return allreduce_bound(topology).seconds_per_byte;
  const Topology network = reduces(collective) ? transposed(topology) : topology;
  return (rooted(collective) ? bcast_optimum(network, root) : forest_optimum(network)).seconds_per_byte();
}

/// How far the schedule is from the bound.
double gap_of(const Topology& topology, Collective collective, NodeId root = 0) {
  return expect_right(topology, collective, {.root = root}) / bound_of(topology, collective, root) - 1;
}

TEST(Forest, of_gpu_boxes_is_proved_and_loads_no_link_above_the_bound) {
  for (const char* spec : {"dgx-a100:1", "dgx-a100:2", "dgx-a100:3", "mi250:1", "mi250:2:8"})
    expect_all_right(topology_of(spec));
}

TEST(Forest, of_usual_networks_is_proved_and_loads_no_link_above_the_bound) {
  for (const char* spec : {"ring:5", "torus:3x3", "mesh:2x3", "hypercube:3", "complete:4", "kautz:7:2", "fattree:4",
                           "switch:6", "xpander:12:3:1", "hyperx:3x3"})
    expect_all_right(topology_of(spec));
}

TEST(Forest, of_random_switched_networks_is_proved_and_loads_no_link_above_the_bound) {
  std::mt19937 random(5);
  for (unsigned seed = 0; seed < 40; ++seed) {
    const auto hosts = static_cast<NodeId>(2 + random() % 7), switches = static_cast<NodeId>(random() % 6);
    const Topology topology = switched_network(hosts, switches, static_cast<int>(random() % 12), seed);
    expect_all_right(topology);
    expect_all_right(topology, {.trees = 1 + static_cast<std::int64_t>(seed % 3)});
  }
}

TEST(Forest, moves_the_right_values) {
  for (unsigned seed = 0; seed < 6; ++seed) {
    const Topology topology = switched_network(static_cast<NodeId>(3 + seed % 4), 3, 5, 100 + seed);
    for (const Collective collective : k_collectives_of_trees) {
      const Forest forest = packed(topology, collective, {.root = rooted(collective) ? 1 : 0, .few = true});
      EXPECT_TRUE(runs_right_every_way(forest_schedule(topology, forest), seed));
    }
  }
}

TEST(Forest, attains_the_optimum_or_what_its_number_of_trees_allows) {
  const Topology boxes = topology_of("mi250:2:8");
  const ForestOptimum optimum = forest_optimum(boxes);
  const Forest best = pack_forest(boxes);
  EXPECT_EQ(best.chunks, optimum.trees);
  EXPECT_NEAR(busiest_s_per_byte(forest_schedule(boxes, best), boxes) / optimum.seconds_per_byte(), 1, 1e-9);
  const Forest few = pack_forest(boxes, {.few = true});
  EXPECT_LT(few.chunks, 10);
  for (std::int64_t trees = 1; trees < 10; ++trees)
    EXPECT_LE(few.seconds_per_byte, fixed_forest(boxes, trees).seconds_per_byte());
}

TEST(Forest, takes_as_few_trees_as_come_near_where_the_optimum_needs_very_many) {
  TopologyBuilder builder("a slow and a fast way", 3);
  for (const auto& [a, b, bandwidth] :
       {std::tuple(0, 1, 1.131e9), std::tuple(1, 2, 2.593e9), std::tuple(2, 0, 3.717e9)})
    builder.link(a, b, bandwidth).link(b, a, bandwidth);
  const Topology topology = std::move(builder).build();
  const ForestOptimum optimum = forest_optimum(topology);
  ASSERT_GT(optimum.trees, k_most_trees_default);
  const Forest forest = pack_forest(topology);
  EXPECT_LE(forest.chunks, k_most_trees_default);
  EXPECT_LE(forest.seconds_per_byte, optimum.seconds_per_byte() * (1 + 2 * k_loss_default));  // the best of those tried
  EXPECT_GE(pack_forest(topology, {.few = true}).seconds_per_byte, forest.seconds_per_byte);
}

TEST(Forest, of_a_kautz_graph_reduces_along_links_that_go_one_way) {
  const Topology topology = topology_of("kautz:9:2");
  for (const Collective collective : k_collectives_of_trees)
    EXPECT_TRUE(runs_right_every_way(
        forest_schedule(topology, packed(topology, collective, {.root = rooted(collective) ? 4 : 0}))));
}

TEST(Forest, packs_only_the_direction_and_the_root_that_the_collective_needs) {
  const Topology topology = topology_of("kautz:9:2");
  EXPECT_TRUE(packed(topology, Collective::allgather).in.trees.empty());
  EXPECT_TRUE(packed(topology, Collective::reduce_scatter).out.trees.empty());
  for (const Tree& tree : packed(topology, Collective::bcast, {.root = 3}).out.trees) EXPECT_EQ(tree.root, 3);
}

TEST(Forest, is_the_same_on_any_number_of_threads) {
  const Topology topology = topology_of("mi250:2:8");
  EXPECT_EQ(forest_schedule(topology, pack_forest(topology, {.threads = 1})),
            forest_schedule(topology, pack_forest(topology, {.threads = 3})));
  EXPECT_EQ(forest_schedule(topology, pack_allreduce(topology, {.threads = 1})),
            forest_schedule(topology, pack_allreduce(topology, {.threads = 3})));
}

constexpr const char* k_balanced[] = {"torus:4x4", "fattree:4", "dgx-a100:2", "mi250:2:8"};

TEST(ForestGap, of_bcast_and_reduce_is_none_where_switches_are_balanced) {
  for (const char* spec : k_balanced)
    for (const Collective collective : {Collective::bcast, Collective::reduce})
      EXPECT_LE(gap_of(topology_of(spec), collective, 3), 1e-9) << spec;
}

TEST(ForestGap, of_reduce_scatter_is_none_with_the_trees_of_its_own_optimum) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const Topology topology = one_way_network(5, 0, 9, seed);
    if (forest_optimum(transposed(topology)).trees > k_most_trees_default) continue;
    EXPECT_LE(gap_of(topology, Collective::reduce_scatter), 1e-9) << "seed " << seed;
  }
}

/// Connected networks of every kind that trees can be packed on: with balanced switches, or with hosts alone.
Topology random_network(unsigned seed) {
  std::mt19937 random(1000 + seed);
  const auto hosts = static_cast<NodeId>(2 + random() % 8), switches = static_cast<NodeId>(random() % 5);
  const int more = static_cast<int>(random() % 12);
  return seed % 2 == 0 ? switched_network(hosts, switches, more, seed) : one_way_network(hosts, 0, more, seed);
}

/// Seconds per byte by trying every set of nodes: those of `roots` inside over bandwidth out, or of a reduction in.
double by_every_cut(const Topology& topology, unsigned roots, bool reduction) {
  double most = 0;
  const unsigned hosts = (1U << topology.hosts()) - 1;
  for (unsigned inside = 1; inside < 1U << topology.nodes(); ++inside) {
    if ((inside & hosts) == hosts || (inside & roots) == 0) continue;
    double crossing = 0;
    for (const Link& link : topology.links()) {
      const unsigned tail = inside >> link.tail & 1, head = inside >> link.head & 1;
      if (reduction ? head > tail : tail > head) crossing += link.bandwidth;
    }
    most = std::max(most, __builtin_popcount(inside & roots) / crossing);
  }
  return most;
}

TEST(ForestGap, of_a_hundred_random_networks_is_none_by_every_cut) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Topology topology = random_network(seed);
    const auto root = static_cast<NodeId>(seed % static_cast<unsigned>(topology.hosts()));
    const auto over_cuts = [&](Collective collective, unsigned roots) {
      const double seconds = expect_right(topology, collective, {.root = rooted(collective) ? root : 0});
      return seconds / by_every_cut(topology, roots, reduces(collective)) - 1;
    };
    for (const Collective collective : {Collective::bcast, Collective::reduce})
      EXPECT_NEAR(over_cuts(collective, 1U << root), 0, 1e-9) << name(collective);
    for (const Collective collective : {Collective::allgather, Collective::reduce_scatter})
      EXPECT_NEAR(over_cuts(collective, (1U << topology.hosts()) - 1), 0, k_loss_default) << name(collective);
  }
}

TEST(ForestGap, of_allreduce_is_small_where_reduce_scatter_and_allgather_are_far_from_the_best) {
  for (const char* spec : {"mesh:4x4", "torus:4x4/drop-links:2:1", "mi250:1:8", "mi250:2:8", "bipartite:3:5"}) {
    EXPECT_LE(gap_of(topology_of(spec), Collective::allreduce), 0.02) << spec;
    EXPECT_GT(pack_forest(topology_of(spec), {.collective = Collective::allreduce}).seconds_per_byte,
              1.2 * bound_of(topology_of(spec), Collective::allreduce, 0))
        << spec;
  }
}

TEST(ForestGap, of_allreduce_on_a_hundred_random_networks_is_small) {
  for (unsigned seed = 0; seed < 100; ++seed)
    EXPECT_LE(gap_of(random_network(seed), Collective::allreduce), 0.02) << "seed " << seed;
}

TEST(Forest, of_an_allreduce_by_the_programme_moves_the_right_values) {
  for (const char* spec : {"mesh:2x3", "mi250:1:8", "bipartite:3:5"})
    EXPECT_TRUE(runs_right_every_way(forest_schedule(topology_of(spec), pack_allreduce(topology_of(spec))))) << spec;
}

TEST(Forest, of_a_hundred_and_twenty_eight_gpus_has_trees_of_height_two) {
  EXPECT_EQ(pack_forest(topology_of("dgx-a100:16")).out.height(), 2);
}

TEST(ForestGroup, relays_through_switches_and_through_others_if_they_may) {
  const Topology boxes = topology_of("mi250:2");
  std::vector<bool> first_eight;
  for (NodeId host = 0; host < boxes.hosts(); ++host) first_eight.push_back(host % 16 < 8);
  const Topology apart = group_topology(boxes, first_eight, Others::gone);
  const Topology together = group_topology(boxes, first_eight, Others::relay);
  EXPECT_EQ(apart.hosts(), 16);
  EXPECT_EQ(together.hosts(), 16);
  EXPECT_DOUBLE_EQ(forest_optimum(apart).seconds_per_byte(),
                   forest_optimum(topology_of("mi250:2:8")).seconds_per_byte());
  EXPECT_LT(forest_optimum(together).seconds_per_byte(), forest_optimum(apart).seconds_per_byte());
  expect_all_right(together, {.few = true});
}

TEST(ForestGroup, that_is_cut_apart_without_the_others_is_refused) {
  const std::vector<bool> ends{true, false, true, false};
  EXPECT_THAT([&] { group_topology(topology_of("ring:4"), ends, Others::gone); },
              ThrowsMessage<Error>(HasSubstr("ring:4")));
  EXPECT_EQ(group_topology(topology_of("ring:4"), ends, Others::relay).hosts(), 2);
}

TEST(Forest, of_one_way_networks_is_right_or_refused_for_a_node_of_unequal_bandwidth) {
  int right = 0, refused = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    const Topology topology = one_way_network(4, static_cast<NodeId>(seed % 4), 8, seed);
    try {
      expect_all_right(topology, {.few = true});
      ++right;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("differ; trees through switches need as much bandwidth into every node"));
      ++refused;
    }
  }
  EXPECT_GT(right, 20);
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace colltopo
