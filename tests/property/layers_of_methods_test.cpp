// How many layers the routes of every method need on the topologies of Basu et al., section 5.2: LASH-sequential at
// most 4 (5.5), which verify proves from the schedule.
#include <gmock/gmock.h>

#include "colltopo/cost.h"
#include "colltopo/routed.h"
#include "colltopo/synthesis.h"
#include "schedules.h"

namespace colltopo {
namespace {

class LayersOfMethods : public testing::TestWithParam<const char*> {};

TEST_P(LayersOfMethods, lash_sequential_needs_at_most_four) {
  const Topology topology = topology_of(GetParam());
  for (const RoutingMethod& method : routing_methods()) {
    // Integer programmes of 27 hosts take minutes; the edge formulation grows as the square of the pairs.
    const bool slow = method.name == "ilp" || method.name == "mcf-link";
    SynthesisOptions options;
    if (!method.refusal(topology, options).empty() || (slow && topology.hosts() > 8)) continue;
    const Chunked chunks = chunked(topology, method.make(topology, options).routing);
    const std::vector<std::int32_t> layers = layers_of(topology, chunks.routing, LayerMethod::lash_sequential);
    EXPECT_LE(layers_in(layers), 4) << method.name;
    EXPECT_LE(layers_in(layers), layers_in(layers_of(topology, chunks.routing, LayerMethod::df_sssp))) << method.name;
    const Schedule schedule = routed_alltoall(std::string(method.name), topology, chunks, layers);
    EXPECT_THAT(schedule, Verifies());
    for (const Violation& violation : verify_on(schedule, topology)) ADD_FAILURE() << to_string(violation);
  }
}

INSTANTIATE_TEST_SUITE_P(Paper, LayersOfMethods,
                         testing::Values("hypercube:3", "twisted-hypercube:3", "bipartite:4:4", "torus:3x3x3",
                                         "torus:3x3x3/drop-links:3:1", "torus:3x3x3/drop-links:3:2",
                                         "torus:3x3x3/drop-hosts:3:1", "torus:3x3x3/drop-hosts:3:2", "kautz:16:4",
                                         "kautz:27:4", "xpander:20:4:1"));

}  // namespace
}  // namespace colltopo
