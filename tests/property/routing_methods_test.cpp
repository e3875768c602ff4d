// Every row of the routing method table on graphs of every kind: a routing without faults, bounds on their right sides,
// the same on any number of threads.
#include <algorithm>
#include <random>

#include <gmock/gmock.h>

#include "colltopo/error.h"
#include "colltopo/synthesis.h"

namespace colltopo {
namespace {

/// The same hosts with `count` cables fewer, keeping every host within reach of every other.
Topology without_cables(const Topology& whole, int count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<bool> kept(whole.links().size(), true);
  const auto rebuilt = [&] {
    TopologyBuilder builder(whole.name() + " less some cables", whole.hosts(), whole.switches());
    for (std::size_t link = 0; link < kept.size(); ++link)
      if (kept[link]) builder.link(whole.links()[link].tail, whole.links()[link].head, whole.links()[link].bandwidth);
    return std::move(builder).build();
  };
  for (int removed = 0; removed < count;) {
    const std::size_t link = random() % kept.size();
    if (!kept[link]) continue;
    std::size_t back = 0;
    while (!kept[back] || whole.links()[back].tail != whole.links()[link].head ||
           whole.links()[back].head != whole.links()[link].tail)
      ++back;
    kept[link] = kept[back] = false;
    if (facts_of(rebuilt()).connected)
      ++removed;
    else
      kept[link] = kept[back] = true;
  }
  return rebuilt();
}

Topology star_of_switches(NodeId leaves, NodeId hosts_per_leaf) {
  const NodeId hosts = leaves * hosts_per_leaf;
  TopologyBuilder builder("leaves and a spine", hosts, leaves + 1);
  for (NodeId host = 0; host < hosts; ++host) builder.cable(host, hosts + host / hosts_per_leaf);
  for (NodeId leaf = 0; leaf < leaves; ++leaf) {
    builder.link(hosts + leaf, hosts + leaves, 10e9).link(hosts + leaves, hosts + leaf, 10e9);
  }
  return std::move(builder).build();
}

Topology unequal(NodeId hosts, int more_links, unsigned seed) {
  std::mt19937 random(seed);
  TopologyBuilder builder("unequal bandwidths", hosts);
  const auto bandwidth = [&] { return 1e9 * static_cast<double>(1 + random() % 4); };
  for (NodeId host = 0; host < hosts; ++host) builder.link(host, (host + 1) % hosts, bandwidth());
  for (int i = 0; i < more_links; ++i) {
    const auto tail = static_cast<NodeId>(random() % static_cast<unsigned>(hosts));
    const auto head = static_cast<NodeId>(random() % static_cast<unsigned>(hosts));
    if (tail != head) builder.link(tail, head, bandwidth());
  }
  return std::move(builder).build();
}

std::vector<Topology> networks() {
  std::vector<Topology> networks;
  for (const char* spec : {"ring:7", "mesh:3x4", "torus:3x3", "torus:4x4", "hypercube:3", "complete:5", "bipartite:4:4",
                           "kautz:16:4", "kautz:13:3", "jellyfish:12:3"})
    networks.push_back(topology_of(spec));
  for (unsigned seed = 1; seed <= 4; ++seed) {
    networks.push_back(without_cables(topology_of("torus:3x4"), 3, seed));
    networks.push_back(without_cables(topology_of("torus:4x4"), 5, seed));
    networks.push_back(unequal(10, 16, seed));
  }
  networks.push_back(star_of_switches(3, 4));
  TopologyBuilder pair("two cables", 2);
  pair.cable(0, 1).cable(0, 1);
  networks.push_back(std::move(pair).build());
  return networks;
}

bool same(const Routing& a, const Routing& b) {
  if (a.paths() != b.paths()) return false;
  for (std::size_t i = 0; i < a.paths(); ++i) {
    const WeightedPath x = a.path(i), y = b.path(i);
    if (x.source != y.source || x.target != y.target || x.weight != y.weight ||
        !std::equal(x.links.begin(), x.links.end(), y.links.begin(), y.links.end()))
      return false;
  }
  return true;
}

class EveryRoutingMethod : public testing::TestWithParam<std::string> {
 protected:
  const RoutingMethod& method() const { return *routing_method_named(GetParam()); }
};

TEST_P(EveryRoutingMethod, serves_every_network_that_it_does_not_refuse) {
  const std::vector<Topology> all = networks();
  for (std::size_t i = 0; i < all.size(); ++i) {
    SCOPED_TRACE(all[i].name() + ", network " + std::to_string(i));
    SynthesisOptions options;
    options.threads = 1;
    options.epsilon = 0.15;
    if (!method().refusal(all[i], options).empty()) continue;
    const Synthesis made = method().make(all[i], options);
    ASSERT_EQ(routing_fault(all[i], made.routing), "");
    EXPECT_NEAR(made.bound.time, all_to_all_time(all[i], link_loads(all[i], made.routing)), 1e-9 * made.bound.time);
    EXPECT_LE(made.bound.time_lower, made.bound.time * (1 + 1e-9));
    EXPECT_LE(made.time_lower_of_paths, made.bound.time * (1 + 1e-9));
    if (!made.bound.lengths.empty()) {
      EXPECT_NEAR(made.bound.time_lower, time_lower_bound(all[i], made.bound.lengths), 1e-9 * made.bound.time);
    }

    options.threads = 3;
    EXPECT_TRUE(same(made.routing, method().make(all[i], options).routing)) << "threads make a difference";
  }
}

TEST_P(EveryRoutingMethod, names_hosts_that_it_cannot_reach) {
  TopologyBuilder builder("two parts", 4);
  builder.cable(0, 1).cable(2, 3);
  const Topology parts = std::move(builder).build();
  const SynthesisOptions options;
  if (!method().refusal(parts, options).empty()) return;
  try {
    method().make(parts, options);
    FAIL() << "it should throw";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("two parts: "), testing::HasSubstr("host")));
  }
}

std::vector<std::string> names() {
  std::vector<std::string> names;
  for (const RoutingMethod& method : routing_methods()) names.emplace_back(method.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Table, EveryRoutingMethod, testing::ValuesIn(names()), [](const auto& name) {
  std::string word = name.param;
  std::replace(word.begin(), word.end(), '-', '_');
  return word;
});

}  // namespace
}  // namespace colltopo
