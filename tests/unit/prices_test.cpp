// One price: what auto finds by a few ranks and symmetry is what all programs cost on the network's links, which is
// what `prepare` and `cost` go by.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <numeric>

#include "choice/variants.h"
#include "colltopo/node_network.h"
#include "prepare/network_profile.h"

namespace colltopo::prepare {
namespace {

struct Prices {
  double sampled = 0, by_link = 0;
  double whole = 0;  // with one rank on a host only, as Priced takes it
};

/// Of all variants of all rows that do the collective and `auto` prices.
std::vector<std::pair<std::string, Prices>> prices_on(const Topology& network, Collective collective, std::size_t bytes,
                                                      Machine machine, Rank ranks_per_host = 1) {
  const Rank ranks = network.hosts() * ranks_per_host;
  std::vector<NodeId> hosts(static_cast<std::size_t>(network.hosts()));
  std::iota(hosts.begin(), hosts.end(), 0);
  std::vector<int> node_of(static_cast<std::size_t>(ranks));
  for (Rank rank = 0; rank < ranks; ++rank) node_of[static_cast<std::size_t>(rank)] = rank / ranks_per_host;
  const Terrain terrain(Placement{node_of, network.sides()});
  const Terrain known(Placement{node_of, network.sides(), std::make_shared<const NodeNetwork>(network, hosts)});
  AlgorithmOptions given;
  given.groups = terrain.nodes;
  given.dimensions = network.sides();
  std::vector<std::pair<std::string, Prices>> all;
  for (const Algorithm& algorithm : algorithms()) {
    if (!serves(algorithm, collective)) continue;
    if (algorithm.repeats && algorithm.repeats({collective, ranks, 1, 0}, given)) continue;
    for (Variant& variant : variants_of(algorithm, collective, given, ranks)) {
      if (!variant.refusal.empty()) continue;
      Variant again = variant;
      Prices prices{variant.seconds(terrain, machine, bytes), again.seconds(known, machine, bytes), {}};
      if (ranks_per_host == 1) {
        const Schedule schedule = generate(algorithm, {collective, ranks, 1, 0}, variant.options);
        prices.whole = Priced(schedule, network, node_of, machine, Cut::whole).seconds(static_cast<double>(bytes));
      }
      all.push_back({variant.name, prices});
    }
  }
  return all;
}

// A sample has the steps of one or two ranks, all programs the busiest rank and link of every step, which are not the
// same in each.
constexpr double k_near = 0.2;

Machine machine_of(const Topology& network) { return machine_on(link_constants(network), Machine{}); }

TEST(Prices, of_ranks_that_are_alike_are_near_those_of_all_programs) {
  for (const char* const spec : {"torus:4x4", "torus:8x8", "ring:8", "torus:4x4x4"}) {
    const Topology network = topology_of(spec);
    for (const Collective collective : {Collective::allreduce, Collective::allgather, Collective::reduce_scatter}) {
      for (const std::size_t bytes : {std::size_t{8}, std::size_t{4096}, std::size_t{1} << 20}) {
        for (const auto& [name, price] : prices_on(network, collective, bytes, machine_of(network))) {
          // Swing, bucket, rings in the order of the sides: their load is the same on every node's links.
          if (!name.starts_with("swing") && !name.starts_with("bucket") && !name.starts_with("mirrored")) continue;
          EXPECT_NEAR(price.sampled, price.whole, k_near * price.whole)
              << name << " " << colltopo::name(collective) << " of " << bytes << " bytes on " << spec;
        }
      }
    }
  }
}

// What leaves a node is what all of its ranks send, also where they do not do alike: of node-pairs one rank of two
// nodes has all that goes between them, and of a chain the last.
TEST(Prices, of_nodes_on_a_switch_are_those_of_all_programs) {
  for (const auto& [spec, ranks_per_host] : {std::pair{"switch:2", 8}, std::pair{"switch:3", 14}}) {
    const Topology network = topology_of(spec);
    for (const Collective collective : {Collective::alltoall, Collective::allreduce, Collective::allgather,
                                        Collective::reduce_scatter, Collective::bcast, Collective::reduce}) {
      for (const std::size_t bytes : {std::size_t{8}, std::size_t{4096}, std::size_t{1} << 20}) {
        for (const auto& [name, price] : prices_on(network, collective, bytes, machine_of(network), ranks_per_host)) {
          EXPECT_NEAR(price.sampled, price.by_link, 1e-9 * price.by_link)
              << name << " " << colltopo::name(collective) << " of " << bytes << " bytes on " << spec;
        }
      }
    }
  }
}

// Of more ranks all of a node whose programs are short. Else the first and the last, which in a ring and in trees have
// what leaves it, and one for all others: steps in which none of them has a message may be others' dearer or cheaper
// ones. That one may be a branch of a tree, and what leaves the node is then too dear: a bcast by swing.
TEST(Prices, of_many_ranks_on_a_switch_are_about_those_of_all_programs) {
  constexpr Rank k_ranks_per_host = 32;
  const auto are_near = [&](const char* spec, Collective collective) {
    const Topology network = topology_of(spec);
    for (const std::size_t bytes : {std::size_t{8}, std::size_t{4096}, std::size_t{1} << 20}) {
      for (const auto& [name, price] : prices_on(network, collective, bytes, machine_of(network), k_ranks_per_host)) {
        const std::string what = fmt::format("{} {} of {} bytes on {}", name, colltopo::name(collective), bytes, spec);
        if (!rooted(collective) || !name.starts_with("swing")) {
          EXPECT_LE(price.sampled, 2.5 * price.by_link) << what;
        }
        EXPECT_GE(price.sampled, 0.55 * price.by_link) << what;
      }
    }
  };
  for (const Collective collective : {Collective::alltoall, Collective::allreduce, Collective::allgather,
                                      Collective::reduce_scatter, Collective::bcast, Collective::reduce})
    are_near("switch:4", collective);
  for (const Collective collective : {Collective::bcast, Collective::reduce, Collective::gather, Collective::scatter})
    are_near("switch:9", collective);
}

// Of more than 2,048 ranks fewer programs are read; prices go on from where they were.
TEST(Prices, of_very_many_ranks_are_near_those_of_a_few_less) {
  const Machine machine = machine_of(topology_of("switch:4"));
  constexpr Rank k_ranks_per_node = 32;
  const auto price_on = [&](Rank nodes, const Algorithm& algorithm, Collective collective, std::size_t bytes) {
    std::vector<int> node_of(static_cast<std::size_t>(nodes * k_ranks_per_node));
    for (std::size_t rank = 0; rank < node_of.size(); ++rank) node_of[rank] = static_cast<int>(rank) / k_ranks_per_node;
    const Terrain terrain(Placement{node_of, {}});
    AlgorithmOptions given;
    given.groups = terrain.nodes;
    std::vector<Variant> variants = variants_of(algorithm, collective, given, terrain.nodes->ranks());
    std::vector<double> prices;
    for (Variant& variant : variants)
      if (variant.refusal.empty()) prices.push_back(variant.seconds(terrain, machine, bytes));
    return prices;
  };
  for (const Collective collective : {Collective::allreduce, Collective::allgather, Collective::reduce_scatter}) {
    for (const Algorithm& algorithm : algorithms()) {
      if (!serves(algorithm, collective)) continue;
      for (const std::size_t bytes : {std::size_t{8}, std::size_t{1} << 20}) {
        const auto fewer = price_on(63, algorithm, collective, bytes),
                   more = price_on(65, algorithm, collective, bytes);
        ASSERT_EQ(fewer.size(), more.size()) << algorithm.name;
        for (std::size_t i = 0; i < fewer.size(); ++i) {
          const std::string what =
              fmt::format("{} {} of {} bytes, variant {}", algorithm.name, colltopo::name(collective), bytes, i);
          EXPECT_LE(more[i], 1.3 * fewer[i]) << what;
          EXPECT_GE(more[i], 0.6 * fewer[i]) << what;
        }
      }
    }
  }
}

// What the component goes by on a network that it knows is what `prepare` and `cost` go by.
TEST(Prices, of_known_links_are_those_of_all_programs) {
  for (const char* const spec :
       {"torus:4x4", "hypercube:3/bandwidth:50Mbps", "mesh:3x3", "ring:7", "kautz:12:3", "bipartite:4:4", "fattree:4",
        "dragonfly:4:2:2", "torus:2x3/latency:5us", "switch:5"}) {
    const Topology network = topology_of(spec);
    for (const Collective collective : {Collective::alltoall, Collective::allreduce, Collective::allgather,
                                        Collective::reduce_scatter, Collective::bcast, Collective::reduce}) {
      for (const std::size_t bytes : {std::size_t{8}, std::size_t{4096}, std::size_t{1} << 20}) {
        for (const auto& [name, price] : prices_on(network, collective, bytes, machine_of(network))) {
          const std::string what =
              fmt::format("{} {} of {} bytes on {}", name, colltopo::name(collective), bytes, spec);
          // The worst of some roots, where the whole is that of one.
          EXPECT_GE(price.by_link, 0.98 * price.whole) << what;
          if (!rooted(collective)) {
            EXPECT_LE(price.by_link, 1.02 * price.whole) << what;
          }
        }
      }
    }
  }
}

// Half of a side of two goes each way in the formula for tori, but there is one link.
TEST(Prices, of_links_that_the_formula_counts_twice) {
  const Topology network = topology_of("hypercube:3");
  for (const auto& [name, price] :
       prices_on(network, Collective::allreduce, std::size_t{1} << 20, machine_of(network))) {
    if (name.starts_with("swing ") && name.ends_with("ports=6")) {
      EXPECT_GT(price.by_link, 1.3 * price.sampled);
    }
  }
}

TEST(MachineOn, takes_what_the_network_says) {
  const Machine given;
  const Machine bare = machine_on(link_constants(topology_of("torus:4x4")), given);
  EXPECT_EQ(bare.latency_network, given.latency_network);
  EXPECT_EQ(bare.bandwidth_network, k_default_bandwidth);
  const Machine ethernet = machine_on(link_constants(topology_of("switch:4/bandwidth:1Gbps")), given);
  EXPECT_DOUBLE_EQ(ethernet.latency_network, 30e-6);
  EXPECT_DOUBLE_EQ(ethernet.overhead, 3e-6);
  EXPECT_DOUBLE_EQ(ethernet.bandwidth_network, 1e9 / 8);
  const Machine told = machine_on(link_constants(topology_of("switch:4/bandwidth:1Gbps/latency:5us")), given);
  EXPECT_DOUBLE_EQ(told.latency_network, 10e-6) << "two links";
  EXPECT_DOUBLE_EQ(told.latency_hop, 5e-6);
  EXPECT_EQ(told.overhead, given.overhead);
  const Machine alone = machine_on(link_constants(topology_of("mesh:1")), given);
  EXPECT_EQ(alone.bandwidth_network, given.bandwidth_network) << "no links";
}

TEST(Prices, of_a_crossbar_are_near_those_of_one_switch) {
  const Topology network = topology_of("switch:8");
  const Machine machine = machine_of(network);
  for (const Collective collective : {Collective::alltoall, Collective::allgather, Collective::allreduce}) {
    for (const auto& [name, price] : prices_on(network, collective, 4096, machine))
      EXPECT_NEAR(price.sampled, price.whole, k_near * price.whole) << name << " " << colltopo::name(collective);
  }
}

}  // namespace
}  // namespace colltopo::prepare
