// Schedules of every family written as MSCCL's XML and read again: proved, the same chunks between the same ranks, and
// no message more than pieces that are not contiguous make.
#include <map>

#include <gmock/gmock.h>

#include "colltopo/algorithms.h"
#include "colltopo/cost.h"
#include "colltopo/forest.h"
#include "colltopo/formats.h"
#include "colltopo/rings.h"
#include "colltopo/routed.h"
#include "colltopo/synthesis.h"
#include "formats/msccl_blocks.h"
#include "schedules.h"
#include "switched_networks.h"

namespace colltopo {
namespace {

using Traffic = std::map<std::tuple<Rank, Rank, Lane>, Chunk>;

Traffic traffic_of(const Schedule& schedule) {
  Traffic traffic;
  for (const Message& message : messages_of(schedule))
    traffic[{message.source, message.target, message.lane}] += message.chunks;
  return traffic;
}

/// Whether no step of the XML has to be one of several of its op.
bool in_single_pieces(const Schedule& schedule) {
  for (const Program& program : schedule.programs) {
    for (std::size_t i = 0; i < program.size(); ++i) {
      const Op op = program.op(i);
      if (op.source.size() > 1 || op.target.size() > 1) return false;
      if (chunks_in(op.source) > msccl::k_most_chunks_of_step || chunks_in(op.target) > msccl::k_most_chunks_of_step)
        return false;
    }
  }
  return true;
}

void expect_round_trip(const Schedule& schedule) {
  SCOPED_TRACE(schedule.name + " " + std::string(name(schedule.shape.collective)) + " on " +
               std::to_string(schedule.shape.ranks));
  const std::string text = msccl_xml(schedule);
  EXPECT_FALSE(msccl::needs_buffers(msccl::parsed(text, "written")));
  const Schedule again = read_msccl_xml(text, "written");
  EXPECT_EQ(again.shape, schedule.shape);
  EXPECT_THAT(again, Verifies());
  EXPECT_EQ(traffic_of(again), traffic_of(schedule));
  const std::size_t before = messages_of(schedule).size(), after = messages_of(again).size();
  if (in_single_pieces(schedule))
    EXPECT_EQ(after, before);
  else
    EXPECT_GE(after, before);
  EXPECT_LE(verify(schedule).in_place, verify(again).in_place);
  EXPECT_EQ(msccl_xml(schedule), text);
}

TEST(MscclRoundTrip, keeps_every_closed_form) {
  for (const Algorithm& algorithm : algorithms()) {
    for (const Collective collective : algorithm.collectives) {
      for (const Rank ranks : {1, 2, 3, 4, 5, 8, 9, 16}) {
        const Shape shape{collective, ranks, 1, rooted(collective) ? ranks / 2 : 0};
        const bool known = row(collective).made_of_trees() || collective == Collective::alltoall;  // to MSCCL
        if (known && algorithm.refusal(shape, {}).empty()) expect_round_trip(generate(algorithm, shape, {}));
      }
    }
  }
}

TEST(MscclRoundTrip, keeps_packed_trees) {
  for (unsigned seed = 0; seed < 8; ++seed) {
    const Topology topology = switched_network(static_cast<NodeId>(3 + seed % 4), 3, 5, 200 + seed);
    for (const Collective collective : {Collective::allgather, Collective::reduce_scatter, Collective::allreduce,
                                        Collective::bcast, Collective::reduce}) {
      const Forest forest =
          pack_forest(topology, {.collective = collective, .root = rooted(collective) ? 1 : 0, .few = true});
      const Schedule schedule = forest_schedule(topology, forest);
      expect_round_trip(schedule);
      EXPECT_TRUE(runs_right_every_way(read_msccl_xml(msccl_xml(schedule), ""), seed));
    }
  }
}

TEST(MscclRoundTrip, keeps_rings_without_contention) {
  for (const char* spec : {"fattree:4", "mesh:4/ranks:2"}) {
    const Topology topology = topology_of(spec);
    const SpanningTree tree = spanning_tree(topology, TreeSearch::breadth_first);
    for (const Collective collective : {Collective::allgather, Collective::reduce_scatter, Collective::allreduce})
      expect_round_trip(ring_schedule("lr3", collective, topology, tree, lr3_order(topology, tree)));
  }
}

TEST(MscclRoundTrip, keeps_flows_along_several_routes) {
  for (const char* spec : {"torus:3x3", "kautz:8:2", "ring:5"}) {
    const Topology topology = topology_of(spec);
    const Chunked chunks = chunked(topology, routing_method_named("mcf")->make(topology, {}).routing, 16);
    const auto layers = layers_of(topology, chunks.routing, LayerMethod::lash_sequential);
    expect_round_trip(routed_alltoall("mcf", topology, chunks, layers));
  }
}

}  // namespace
}  // namespace colltopo
