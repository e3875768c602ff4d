// The table of collectives against what each is by MPI's definition, written out by hand.
#include <gmock/gmock.h>

#include "colltopo/layout.h"
#include "colltopo/shape.h"

namespace colltopo {
namespace {

using testing::ElementsAre;

// Three ranks, two chunks a shard, root 1; of ranks 0, 1 and 2.
std::vector<Chunk> inputs(Collective collective) {
  const Shape shape{collective, 3, 2, rooted(collective) ? 1 : 0};
  return {shape.input_chunks(0), shape.input_chunks(1), shape.input_chunks(2)};
}
std::vector<Chunk> outputs(Collective collective) {
  const Shape shape{collective, 3, 2, rooted(collective) ? 1 : 0};
  return {shape.output_chunks(0), shape.output_chunks(1), shape.output_chunks(2)};
}

TEST(Collectives, have_the_buffers_of_mpi) {
  EXPECT_THAT(inputs(Collective::alltoall), ElementsAre(6, 6, 6));
  EXPECT_THAT(outputs(Collective::alltoall), ElementsAre(6, 6, 6));
  EXPECT_THAT(inputs(Collective::allgather), ElementsAre(2, 2, 2));
  EXPECT_THAT(outputs(Collective::allgather), ElementsAre(6, 6, 6));
  EXPECT_THAT(inputs(Collective::reduce_scatter), ElementsAre(6, 6, 6));
  EXPECT_THAT(outputs(Collective::reduce_scatter), ElementsAre(2, 2, 2));
  EXPECT_THAT(inputs(Collective::allreduce), ElementsAre(6, 6, 6));
  EXPECT_THAT(outputs(Collective::allreduce), ElementsAre(6, 6, 6));
  EXPECT_THAT(inputs(Collective::bcast), ElementsAre(0, 2, 0));
  EXPECT_THAT(outputs(Collective::bcast), ElementsAre(2, 0, 2));
  EXPECT_THAT(inputs(Collective::reduce), ElementsAre(2, 2, 2));
  EXPECT_THAT(outputs(Collective::reduce), ElementsAre(0, 2, 0));
  EXPECT_THAT(inputs(Collective::gather), ElementsAre(2, 2, 2));
  EXPECT_THAT(outputs(Collective::gather), ElementsAre(0, 6, 0));
  EXPECT_THAT(inputs(Collective::scatter), ElementsAre(0, 6, 0));
  EXPECT_THAT(outputs(Collective::scatter), ElementsAre(2, 2, 2));
}

TEST(Collectives, say_where_every_output_chunk_comes_from) {
  EXPECT_EQ((Shape{Collective::alltoall, 3, 2, 0}.origin(2, 3)), (Origin{1, 5}));
  EXPECT_EQ((Shape{Collective::allgather, 3, 2, 0}.origin(2, 3)), (Origin{1, 1}));
  EXPECT_EQ((Shape{Collective::bcast, 3, 2, 1}.origin(2, 1)), (Origin{1, 1}));
  EXPECT_EQ((Shape{Collective::reduce_scatter, 3, 2, 0}.origin(2, 1).chunk), 5);
  EXPECT_EQ((Shape{Collective::allreduce, 3, 2, 0}.origin(2, 3).chunk), 3);
  EXPECT_EQ((Shape{Collective::reduce, 3, 2, 1}.origin(1, 1).chunk), 1);
  EXPECT_EQ((Shape{Collective::gather, 3, 2, 1}.origin(1, 5)), (Origin{2, 1}));
  EXPECT_EQ((Shape{Collective::scatter, 3, 2, 1}.origin(2, 1)), (Origin{1, 5}));
}

TEST(Collectives, cut_what_the_count_counts) {
  const auto parts = [](Collective collective) { return Shape{collective, 3, 2, 0}.parts(); };
  const auto classes = [](Collective collective) { return Shape{collective, 3, 2, 0}.classes(); };
  for (const Collective shards : {Collective::alltoall, Collective::allgather, Collective::reduce_scatter})
    EXPECT_EQ(parts(shards), 2) << name(shards);
  EXPECT_EQ(parts(Collective::allreduce), 6);
  EXPECT_EQ(parts(Collective::bcast), 2);
  EXPECT_EQ(parts(Collective::reduce), 2);
  EXPECT_EQ(classes(Collective::reduce_scatter), 6);
  EXPECT_EQ(classes(Collective::allreduce), 6);
  EXPECT_EQ(classes(Collective::alltoall), 2);
}

TEST(Collectives, lie_in_place_where_mpi_has_them) {
  const auto bytes = [](Collective collective, Rank rank) {
    return Layout(Shape{collective, 3, 2, rooted(collective) ? 1 : 0}, 5, 8).in_place_bytes(rank);
  };
  EXPECT_EQ(bytes(Collective::allgather, 2), 2 * 5 * 8);
  for (const Collective other : {Collective::alltoall, Collective::reduce_scatter, Collective::allreduce})
    EXPECT_EQ(bytes(other, 2), 0) << name(other);
  EXPECT_EQ(bytes(Collective::reduce, 1), 0);
  EXPECT_EQ(bytes(Collective::gather, 1), 5 * 8);
  EXPECT_EQ(bytes(Collective::gather, 2), 0);  // no output
  EXPECT_EQ(bytes(Collective::scatter, 1), -5 * 8);
  EXPECT_EQ(bytes(Collective::scatter, 2), 0);
}

TEST(Collectives, are_known_by_name) {
  for (const CollectiveRow& row : collectives()) EXPECT_EQ(collective_named(row.name), row.collective);
  EXPECT_EQ(collective_named("reduce_"), std::nullopt);
  EXPECT_THAT(collective_names(" "), testing::HasSubstr("alltoall allgather reduce_scatter"));
}

}  // namespace
}  // namespace colltopo
