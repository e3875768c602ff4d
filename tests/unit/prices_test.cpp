// One price: what auto finds by a few ranks and symmetry is what all programs cost on the network's links, which is
// what `prepare` and `cost` go by.
#include <gmock/gmock.h>

#include <numeric>

#include "choice/variants.h"
#include "prepare/network_profile.h"

namespace colltopo::prepare {
namespace {

struct Prices {
  double sampled = 0, whole = 0;
};

/// Of all variants of all rows that do the collective, on one rank per host.
std::vector<std::pair<std::string, Prices>> prices_on(const Topology& network, Collective collective, std::size_t bytes,
                                                      Machine machine) {
  std::vector<int> node_of(static_cast<std::size_t>(network.hosts()));
  std::iota(node_of.begin(), node_of.end(), 0);
  const Terrain terrain(Placement{node_of, network.sides()});
  AlgorithmOptions given;
  given.groups = terrain.nodes;
  given.dimensions = network.sides();
  std::vector<std::pair<std::string, Prices>> all;
  for (const Algorithm& algorithm : algorithms()) {
    if (!serves(algorithm, collective)) continue;
    for (Variant& variant : variants_of(algorithm, collective, given, network.hosts())) {
      if (!variant.refusal.empty()) continue;
      const Schedule schedule = generate(algorithm, {collective, network.hosts(), 1, 0}, variant.options);
      all.push_back({variant.name,
                     {variant.seconds(terrain, machine, bytes),
                      Priced(schedule, network, node_of, machine, Cut::whole).seconds(static_cast<double>(bytes))}});
    }
  }
  return all;
}

// A sample has the steps of one or two ranks, all programs the busiest rank and link of every step, which are not the
// same in each.
constexpr double k_near = 0.2;

Machine machine_of(const Topology& network) { return machine_on(network, Machine{}); }

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

TEST(Prices, of_a_crossbar_are_near_those_of_one_switch) {
  const Topology network = topology_of("switch:8");
  Machine machine = machine_of(network);
  machine.latency_network *= 2;  // a message takes two links there
  for (const Collective collective : {Collective::alltoall, Collective::allgather, Collective::allreduce}) {
    for (const auto& [name, price] : prices_on(network, collective, 4096, machine))
      EXPECT_NEAR(price.sampled, price.whole, k_near * price.whole) << name << " " << colltopo::name(collective);
  }
}

}  // namespace
}  // namespace colltopo::prepare
