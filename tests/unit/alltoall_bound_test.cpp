// The optimum of the all-to-all: known values, with and without symmetry; certificates that hold on the whole network.
#include <algorithm>
#include <cctype>
#include <numeric>
#include <set>

#include <gmock/gmock.h>

#include "colltopo/error.h"
#include "colltopo/synthesis.h"
#include "networks.h"
#include "synthesis/interior_point/path_interior_point.h"
#include "synthesis/sweep/path_gauss_seidel.h"
#include "topology/orbits.h"

namespace colltopo {

using namespace synthesis;
namespace {

using testing::HasSubstr;

SynthesisOptions to_gap(double gap, bool symmetry) {
  SynthesisOptions options;
  options.gap = gap;
  options.symmetry = symmetry;
  options.threads = 1;
  return options;
}

/// Both sides follow from what the bound gives along with them: the loads and the lengths of links.
void expect_proved(const Topology& topology, const FlowBound& bound) {
  EXPECT_NEAR(time_lower_bound(topology, bound.lengths, 1), bound.time_lower, 1e-11 * bound.time_lower)
      << topology.name();
  EXPECT_NEAR(all_to_all_time(topology, bound.loads), bound.time, 1e-11 * bound.time) << topology.name();
  EXPECT_LE(bound.time_lower, bound.time * (1 + 1e-12)) << topology.name();
}

struct Known {
  std::string spec;
  double inverse_f;
};

class KnownOptimum : public testing::TestWithParam<Known> {};

TEST_P(KnownOptimum, is_found_with_and_without_symmetry) {
  const Topology topology = topology_of(GetParam().spec);
  for (const bool symmetry : {true, false}) {
    const FlowBound bound = alltoall_bound(topology, to_gap(1e-7, symmetry));
    EXPECT_LE(bound.gap(), 1e-7);
    EXPECT_NEAR(bound.time, GetParam().inverse_f, 1e-6 * GetParam().inverse_f);
    expect_proved(topology, bound);
  }
}

// Generalized Kautz graphs by an exact linear programme (Clp), the others by their distances and cuts.
INSTANTIATE_TEST_SUITE_P(AllToAll, KnownOptimum,
                         testing::Values(Known{"torus:3x3x3", 9}, Known{"torus:8x8", 64}, Known{"mesh:4x4", 16},
                                         Known{"torus:8x4", 32}, Known{"torus:3x3x3/host-bandwidth:4", 13.5},
                                         Known{"hypercube:4", 8}, Known{"switch:7", 6}, Known{"complete:5", 1},
                                         Known{"kautz:16:4", 7.5714285714}, Known{"kautz:32:4", 21.25},
                                         Known{"kautz:64:4", 46.0666666667}, Known{"kautz:100:4", 80.9285714286}),
                         [](const auto& test) {
                           std::string name = test.param.spec;
                           for (char& letter : name)
                             if (std::isalnum(static_cast<unsigned char>(letter)) == 0) letter = '_';
                           return name;
                         });

/// Two racks that mirror each other, of hosts on switches of their own, joined by parallel cables of two speeds.
Topology two_racks(NodeId hosts_of_rack) {
  TopologyBuilder builder("two racks", 2 * hosts_of_rack, 3);
  const NodeId first = 2 * hosts_of_rack;
  for (NodeId host = 0; host < 2 * hosts_of_rack; ++host) builder.cable(host, first + host / hosts_of_rack);
  builder.cable(first, first + 1).cable(first, first + 1);
  for (const NodeId rack : {first, first + 1}) builder.link(rack, first + 2, 10e9).link(first + 2, rack, 5e9);
  builder.link(first, first + 1, 7e9).link(first + 1, first, 7e9);
  return std::move(builder).build();
}

std::vector<Topology> varied_networks() {
  std::vector<Topology> all;
  for (const char* spec : {"ring:5", "ring:6", "mesh:2x5", "mesh:3x3", "torus:3x5", "torus:2x6", "hypercube:3",
                           "bipartite:3:4", "jellyfish:12:3", "torus:3x4/host-bandwidth:3", "torus:4x4/drop-links:2:1",
                           "kautz:9:2", "kautz:14:3", "kautz:26:5", "kautz:40:4"})
    all.push_back(topology_of(spec));
  all.push_back(two_racks(2));
  all.push_back(two_racks(5));
  for (std::uint32_t seed = 1; seed <= 4; ++seed) all.push_back(random_network(seed, 9, 2));
  // A ring one way round whose cables alternate between one and three parallel links, one of them faster.
  TopologyBuilder ring("uneven ring", 8);
  for (NodeId host = 0; host < 8; ++host) {
    ring.link(host, (host + 1) % 8, 2e9);
    if (host % 2 == 0) ring.link(host, (host + 1) % 8, 2e9).link(host, (host + 1) % 8, 3e9);
    ring.link((host + 1) % 8, host, 1e9);
  }
  all.push_back(std::move(ring).build());
  return all;
}

TEST(AllToAllBound, symmetry_changes_nothing) {
  for (const Topology& topology : varied_networks()) {
    const FlowBound symmetric = alltoall_bound(topology, to_gap(1e-8, true));
    const FlowBound plain = alltoall_bound(topology, to_gap(1e-8, false));
    EXPECT_LE(symmetric.gap(), 1e-8) << topology.name();
    EXPECT_LE(plain.gap(), 1e-8) << topology.name();
    EXPECT_NEAR(symmetric.time, plain.time, 2e-8 * plain.time) << topology.name();
    expect_proved(topology, symmetric);
    expect_proved(topology, plain);
  }
}

/// All automorphisms, from their generators.
std::set<std::vector<NodeId>> group_of(const Orbits& orbits, NodeId nodes) {
  std::vector<NodeId> identity(static_cast<std::size_t>(nodes));
  std::iota(identity.begin(), identity.end(), 0);
  std::set<std::vector<NodeId>> group{identity};
  std::vector<std::vector<NodeId>> fresh{identity};
  while (!fresh.empty()) {
    const std::vector<NodeId> element = std::move(fresh.back());
    fresh.pop_back();
    for (const std::vector<NodeId>& generator : orbits.generators) {
      std::vector<NodeId> next;
      for (const NodeId node : element) next.push_back(generator[static_cast<std::size_t>(node)]);
      if (group.insert(next).second) fresh.push_back(std::move(next));
    }
  }
  return group;
}

TEST(OrbitInstance, loads_are_those_of_the_average_over_the_group) {
  for (const char* spec : {"kautz:16:4", "kautz:14:3", "torus:3x3", "mesh:3x3", "torus:2x4", "switch:4"}) {
    const Topology topology = topology_of(spec);
    const FlowInstance instance = orbit_instance(topology);
    const FlowSolution solution = path_gauss_seidel(instance, to_gap(0.05, true));
    const std::set<std::vector<NodeId>> group = group_of(orbits_of(topology), topology.nodes());
    std::vector<double> loads(topology.links().size(), 0);
    std::vector<double> sent(static_cast<std::size_t>(topology.hosts() * topology.hosts()), 0);
    for (std::size_t i = 0; i < solution.routing.paths(); ++i) {
      const WeightedPath path = solution.routing.path(i);
      const auto source = std::find(instance.sources.begin(), instance.sources.end(), path.source);
      const double multiplicity = instance.multiplicity[static_cast<std::size_t>(source - instance.sources.begin())];
      for (const std::vector<NodeId>& element : group) {
        const auto moved = [&](NodeId node) { return element[static_cast<std::size_t>(node)]; };
        const double weight = path.weight * multiplicity / static_cast<double>(group.size());
        sent[static_cast<std::size_t>(moved(path.source) * topology.hosts() + moved(path.target))] += weight;
        for (const LinkId id : path.links)
          for (const LinkId image : topology.links_out(moved(topology.link(id).tail)))
            if (topology.link(image).head == moved(topology.link(id).head)) {
              loads[static_cast<std::size_t>(image)] += weight;
              break;
            }
      }
    }
    for (NodeId source = 0; source < topology.hosts(); ++source)
      for (NodeId target = 0; target < topology.hosts(); ++target)
        EXPECT_NEAR(sent[static_cast<std::size_t>(source * topology.hosts() + target)], source == target ? 0 : 1, 1e-9)
            << spec;
    EXPECT_NEAR(all_to_all_time(topology, loads), solution.time, 1e-9 * solution.time) << spec;
    const std::vector<double> lengths = link_lengths(instance, solution.class_lengths);
    EXPECT_NEAR(time_lower_bound(topology, lengths, 1), solution.time_lower, 1e-11 * solution.time_lower) << spec;
    EXPECT_NEAR(time_lower_bound(instance, solution.class_lengths, 2), solution.time_lower, 1e-11 * solution.time_lower)
        << spec;
  }
}

TEST(PathInteriorPoint, needs_no_start) {
  for (std::uint32_t seed = 1; seed <= 6; ++seed) {
    const Topology topology = random_network(seed, 12, 3);
    const FlowInstance instance = whole_instance(topology);
    const FlowSolution solution = path_interior_point(instance, {}, to_gap(1e-9, false));
    EXPECT_LE(solution.gap(), 1e-9);
    EXPECT_EQ(routing_fault(topology, solution.routing), "");
    EXPECT_NEAR(all_to_all_time(topology, link_loads(topology, solution.routing)), solution.time, 1e-9 * solution.time);
    EXPECT_NEAR(time_lower_bound(topology, solution.class_lengths, 1), solution.time_lower, 1e-9 * solution.time);
  }
}

TEST(PathInteriorPoint, is_never_worse_than_its_start) {
  const Topology topology = topology_of("kautz:60:3");
  const FlowInstance instance = whole_instance(topology);
  const FlowSolution start = path_gauss_seidel(instance, to_gap(0.02, false));
  SynthesisOptions options = to_gap(0, false);
  for (const double seconds : {0.0, 0.002, 0.02}) {
    options.seconds = seconds;
    const FlowSolution solution = path_interior_point(instance, start, options);
    EXPECT_LE(solution.time, start.time * (1 + 1e-8));
    EXPECT_GE(solution.time_lower, start.time_lower * (1 - 1e-12));
    EXPECT_EQ(routing_fault(topology, solution.routing), "");
  }
}

TEST(AllToAllBound, stops_when_time_is_up_with_bounds_that_hold) {
  const Topology topology = topology_of("kautz:200:3");
  SynthesisOptions options = to_gap(1e-9, false);
  options.seconds = 0;
  const FlowBound bound = alltoall_bound(topology, options);
  EXPECT_GT(bound.gap(), 1e-9);
  expect_proved(topology, bound);
}

TEST(AllToAllBound, tells_of_its_progress) {
  SynthesisOptions options = to_gap(1e-6, true);
  double last = 1;
  int calls = 0;
  options.progress = [&](const FlowBound& bound) {
    ++calls;
    last = bound.gap();
  };
  alltoall_bound(topology_of("kautz:50:3"), options);
  EXPECT_GT(calls, 3);
  EXPECT_LE(last, 1e-6);
}

TEST(AllToAllBound, of_hosts_that_cannot_reach_each_other_is_an_error_that_names_them) {
  TopologyBuilder builder("two parts", 4);
  builder.cable(0, 1).cable(1, 2);
  const Topology parts = std::move(builder).build();
  try {
    alltoall_bound(parts, to_gap(0.01, true));
    FAIL() << "host 3 is cut off";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("host 3 cannot reach"));
  }
  EXPECT_THROW(alltoall_bound(std::move(TopologyBuilder("alone", 1)).build(), to_gap(0.01, true)), Error);
}

TEST(AllToAllBound, is_never_below_that_of_all_networks_of_the_degree) {
  for (const char* spec : {"kautz:64:4", "torus:3x3x3", "ring:9"}) {
    const Topology topology = topology_of(spec);
    const double least = theorem_1_time(topology.hosts(), facts_of(topology).largest_degree);
    EXPECT_LE(least, alltoall_bound(topology, to_gap(1e-6, true)).time) << spec;
  }
}

}  // namespace
}  // namespace colltopo
