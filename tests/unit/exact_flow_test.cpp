// The exact linear programmes: known optima, agreement of the programmes with each other, certificates, paths.
#include "synthesis/lp/exact_flow.h"

#include <algorithm>

#include <gmock/gmock.h>

#include "colltopo/error.h"

namespace colltopo {

using namespace synthesis;
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// Every routing proved, both times those that are said to be.
void expect_certified(const Topology& topology, const Synthesis& synthesis) {
  EXPECT_EQ(routing_fault(topology, synthesis.routing), "");
  EXPECT_DOUBLE_EQ(synthesis.bound.time, all_to_all_time(topology, link_loads(topology, synthesis.routing)));
  EXPECT_DOUBLE_EQ(synthesis.bound.time_lower, time_lower_bound(topology, synthesis.bound.lengths));
}

struct Known {
  const char* spec;
  double time;  // 1/F
};

TEST(MasterProgramme, finds_known_optima_and_proves_them) {
  for (const auto& [spec, time] : {Known{"torus:3x3x3", 9}, Known{"torus:4x4", 8}, Known{"kautz:16:4", 7.5714285714},
                                   Known{"kautz:32:4", 21.25}}) {
    const Topology topology = topology_of(spec);
    const Synthesis synthesis = decomposed_flow(topology, {});
    expect_certified(topology, synthesis);
    EXPECT_NEAR(synthesis.bound.time, time, 1e-6 * time) << spec;
    EXPECT_NEAR(synthesis.bound.time_lower, time, 1e-7 * time) << spec;
    const auto pairs = static_cast<double>(topology.hosts()) * (topology.hosts() - 1);
    EXPECT_LT(static_cast<double>(synthesis.routing.paths()), 1.5 * pairs) << spec;
  }
}

Topology two_speeds() {
  TopologyBuilder builder("two speeds", 4);
  for (const auto& [a, b, speed] : {std::tuple{0, 1, 1.0}, {1, 2, 2.5}, {2, 3, 1.0}, {3, 0, 4.0}, {0, 2, 1.5}})
    builder.link(a, b, speed * 1e9).link(b, a, 2e9);
  return std::move(builder).build();
}

Topology two_switches() {
  TopologyBuilder builder("two switches", 5, 2);
  for (NodeId host = 0; host < 5; ++host) builder.cable(host, host < 3 ? 5 : 6);
  builder.cable(5, 6).cable(2, 4);
  return std::move(builder).build();
}

TEST(Programmes, undecomposed_and_decomposed_agree) {
  for (const Topology& topology : {topology_of("torus:3x3"), topology_of("hypercube:3"), topology_of("bipartite:4:4"),
                                   topology_of("kautz:12:3"), topology_of("switch:5"), two_speeds(), two_switches()}) {
    SCOPED_TRACE(topology.name());
    const Synthesis whole = routing_method_named("mcf-link")->make(topology, {});
    expect_certified(topology, whole);
    const double time = whole.bound.time_lower;
    EXPECT_LE(whole.bound.time, 1.000001 * time);
    for (const Children children : {Children::stripping, Children::linear_programs}) {
      const Synthesis decomposed = decomposed_flow(topology, {.children = children});
      expect_certified(topology, decomposed);
      EXPECT_NEAR(decomposed.bound.time_lower, time, 1e-7 * time);
      EXPECT_LE(decomposed.bound.time, 1.000001 * time);
    }
  }
}

TEST(PathExtraction, is_within_a_percent_of_the_optimum_on_the_papers_graphs) {
  for (const Topology& topology :
       {topology_of("hypercube:3"), topology_of("twisted-hypercube:3"), topology_of("bipartite:4:4"),
        topology_of("torus:3x3x3"), topology_of("kautz:16:4"), topology_of("kautz:32:4"), topology_of("kautz:48:4")}) {
    SCOPED_TRACE(topology.name());
    for (const Children children : {Children::stripping, Children::linear_programs}) {
      const Synthesis synthesis = decomposed_flow(topology, {.children = children});
      expect_certified(topology, synthesis);
      EXPECT_LE(synthesis.bound.gap(), 0.01);
    }
  }
}

TEST(Programmes, of_a_network_in_two_parts_name_hosts) {
  TopologyBuilder builder("two parts", 3);
  builder.cable(0, 1);
  const Topology parts = std::move(builder).build();
  EXPECT_THAT([&] { pair_flows(parts); }, ThrowsMessage<Error>(HasSubstr("host 0 cannot reach host 2")));
  EXPECT_THAT([&] { grouped_flows(whole_instance(parts)); }, ThrowsMessage<Error>(HasSubstr("cannot reach host 2")));
}

TEST(Programmes, too_large_or_too_long_is_said) {
  const Topology large = topology_of("torus:16x16");
  EXPECT_THAT(routing_method_named("mcf-link")->refusal(large, {}), HasSubstr("mcf gives the same optimum"));
  EXPECT_EQ(routing_method_named("mcf-link")->refusal(topology_of("torus:3x3"), {}), "");
  EXPECT_THAT([&] { grouped_flows(whole_instance(topology_of("torus:6x6")), 0.001); },
              ThrowsMessage<Error>(HasSubstr("is not solved in what was left of the time")));
}

TEST(ChildProgrammes, stay_within_the_grouped_flow) {
  const Topology topology = topology_of("kautz:16:4");
  ExactFlow exact = grouped_flows(whole_instance(topology));
  for (LinkFlow& grouped : exact.flows) {
    restore_conservation(topology, grouped);
    std::vector<double> left(topology.links().size(), 1e-6);
    for (const LinkAmount& on : grouped.links) left[static_cast<std::size_t>(on.link)] += on.amount;
    const std::vector<LinkFlow> flows = child_flows(topology, grouped);
    ASSERT_EQ(flows.size(), 15U);
    for (const LinkFlow& flow : flows)
      for (const LinkAmount& on : flow.links) left[static_cast<std::size_t>(on.link)] -= on.amount;
    EXPECT_GE(*std::min_element(left.begin(), left.end()), 0);
  }
}

}  // namespace
}  // namespace colltopo
