// The allreduce programme: equal to packings of all trees of small networks, and to the pair of reduce-scatter and
// allgather or better.
#include "colltopo/allreduce_bound.h"

#include <numeric>
#include <random>

#include <gmock/gmock.h>

#include "colltopo/error.h"
#include "colltopo/forest.h"
#include "lp/model.h"
#include "switched_networks.h"

namespace colltopo {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

double pair_of(const Topology& topology) {
  return (forest_optimum(topology).seconds_per_byte() + forest_optimum(transposed(topology)).seconds_per_byte()) /
         topology.hosts();
}

/// Hosts alone, every link of a bandwidth of its own.
Topology one_way_network(NodeId hosts, unsigned seed) {
  std::mt19937 random(seed);
  TopologyBuilder builder("random", hosts);
  for (NodeId tail = 0; tail < hosts; ++tail)
    for (NodeId head = 0; head < hosts; ++head)
      if (tail != head && (head == (tail + 1) % hosts || random() % 2 == 0))
        builder.link(tail, head, 1e9 * (1 + static_cast<double>(random() % 4)));
  return std::move(builder).build();
}

/// Every spanning tree out of (or, turned, into) a root as its links.
std::vector<std::vector<LinkId>> trees_of(const Topology& topology, NodeId root, bool turned) {
  std::vector<std::vector<LinkId>> trees{{}};
  // A link for every other host, in all ways; those that have a circle are no trees.
  for (NodeId host = 0; host < topology.hosts(); ++host) {
    if (host == root) continue;
    std::vector<std::vector<LinkId>> longer;
    for (LinkId link = 0; link < static_cast<LinkId>(topology.links().size()); ++link) {
      if ((turned ? topology.link(link).tail : topology.link(link).head) != host) continue;
      for (std::vector<LinkId> tree : trees) {
        tree.push_back(link);
        longer.push_back(std::move(tree));
      }
    }
    trees = std::move(longer);
  }
  std::erase_if(trees, [&](const std::vector<LinkId>& tree) {
    std::vector<NodeId> before(static_cast<std::size_t>(topology.hosts()), root);
    for (const LinkId link : tree) {
      const auto [tail, head, bandwidth, latency] = topology.link(link);
      before[static_cast<std::size_t>(turned ? tail : head)] = turned ? head : tail;
    }
    for (NodeId host = 0; host < topology.hosts(); ++host) {
      NodeId at = host;
      for (NodeId step = 0; step < topology.hosts() && at != root; ++step) at = before[static_cast<std::size_t>(at)];
      if (at != root) return true;
    }
    return false;
  });
  return trees;
}

/// The most that trees of both directions can carry: a column for every tree.
double by_all_trees(const Topology& topology) {
  lp::Model model;
  std::vector<std::vector<lp::Term>> load(topology.links().size());
  for (NodeId root = 0; root < topology.hosts(); ++root) {
    const lp::Column share = model.column(-1);
    for (const bool turned : {false, true}) {
      std::vector<lp::Term> sum{{share, -1}};
      for (const std::vector<LinkId>& tree : trees_of(topology, root, turned)) {
        const lp::Column column = model.column(0);
        sum.push_back({column, 1});
        for (const LinkId link : tree) load[static_cast<std::size_t>(link)].push_back({column, 1});
      }
      model.row(0, 0, sum);
    }
  }
  for (std::size_t link = 0; link < load.size(); ++link)
    model.row(-lp::k_infinity, topology.links()[link].bandwidth / 1e9, load[link]);
  return 1e-9 / -model.solve().objective;
}

TEST(AllreduceBound, is_the_best_packing_of_all_trees) {
  for (unsigned seed = 0; seed < 25; ++seed) {
    const Topology topology = one_way_network(static_cast<NodeId>(2 + seed % 3), seed);
    EXPECT_NEAR(allreduce_bound(topology).seconds_per_byte / by_all_trees(topology), 1, 1e-7) << "seed " << seed;
  }
}

TEST(AllreduceBound, is_never_above_the_pair_of_reduce_scatter_and_allgather) {
  for (unsigned seed = 0; seed < 15; ++seed) {
    const Topology topology =
        switched_network(static_cast<NodeId>(2 + seed % 5), static_cast<NodeId>(seed % 4), 4, seed);
    const AllreduceBound bound = allreduce_bound(topology);
    EXPECT_LE(bound.seconds_per_byte, pair_of(topology) * (1 + 1e-9)) << "seed " << seed;
    EXPECT_NEAR(std::accumulate(bound.shares.begin(), bound.shares.end(), 0.0), 1, 1e-7);
  }
}

TEST(AllreduceBound, is_the_pair_on_the_papers_networks_and_on_those_whose_hosts_are_alike) {
  for (const char* spec : {"dgx-a100:1", "mi250:1", "ring:5", "torus:3x3", "hypercube:3", "switch:4", "complete:4"}) {
    const Topology topology = topology_of(spec);
    EXPECT_NEAR(allreduce_bound(topology).seconds_per_byte / pair_of(topology), 1, 1e-7) << spec;
  }
}

TEST(AllreduceBound, is_below_the_pair_where_one_host_hangs_on_a_slow_cable) {
  TopologyBuilder builder("slow cable", 4);
  const auto cable = [&](NodeId a, NodeId b, double bandwidth) { builder.link(a, b, bandwidth).link(b, a, bandwidth); };
  cable(0, 1, 8e9);
  cable(1, 2, 8e9);
  cable(2, 0, 8e9);
  cable(2, 3, 1e9);
  const Topology topology = std::move(builder).build();
  // Its 1 GB/s must carry the vector out, and back: at the same time when it is the root of nothing. In the pair each
  // stage moves three quarters of it one way, and nothing the other.
  EXPECT_NEAR(pair_of(topology) * 1e9, 1.5, 1e-9);
  const AllreduceBound bound = allreduce_bound(topology);
  EXPECT_NEAR(bound.seconds_per_byte * 1e9, 1, 1e-7);
  EXPECT_NEAR(bound.shares[3], 0, 1e-7);
}

TEST(AllreduceBound, is_below_the_pair_on_two_boxes_of_which_half_of_each_takes_part) {
  const Topology topology = topology_of("mi250:2:8");
  EXPECT_NEAR(pair_of(topology) / allreduce_bound(topology).seconds_per_byte, 16.0 / 13, 1e-7);
}

TEST(AllreduceBound, stays_right_however_unlike_bandwidths_are) {
  for (const double apart : {1e3, 1e6, 1e9, 1e11}) {
    TopologyBuilder builder("slow end", 3);
    builder.link(0, 1, 1e6 * apart).link(1, 0, 1e6 * apart).link(1, 2, 1e6).link(2, 1, 1e6);
    // The slow cable moves the vector out and back at the same time, while its end is the root of nothing.
    EXPECT_NEAR(allreduce_bound(std::move(builder).build()).seconds_per_byte * 1e6, 1, 1e-6) << apart;
  }
}

TEST(AllreduceBound, refuses_what_is_too_large_or_has_none) {
  EXPECT_THAT([] { allreduce_bound(topology_of("fattree:16")); },
              ThrowsMessage<Error>(HasSubstr("the allreduce programme has up to ")));
  EXPECT_THAT([] { allreduce_bound(topology_of("switch:1")); }, ThrowsMessage<Error>(HasSubstr("1 host")));
}

}  // namespace
}  // namespace colltopo
