// Where shards of sizes of their own are cut, and which programs serve them.
#include <gmock/gmock.h>

#include "colltopo/aggregation.h"
#include "colltopo/algorithms.h"
#include "colltopo/layout.h"
#include "colltopo/uneven.h"

namespace colltopo {
namespace {

struct Part {
  std::size_t offset, bytes;
  friend bool operator==(const Part&, const Part&) = default;
  friend void PrintTo(const Part& part, std::ostream* out) { *out << part.offset << "+" << part.bytes; }
};

std::vector<Part> parts(const Layout& layout, Rank rank, const Run& run, int segment = 0) {
  std::vector<Part> all;
  Slice(layout, segment, false).for_each_part(rank, run, [&](std::size_t offset, std::size_t bytes) {
    all.push_back({offset, bytes});
  });
  return all;
}

TEST(UnevenLayout, cuts_shards_at_multiples_of_64_bytes_from_where_they_begin) {
  const std::vector<std::size_t> bytes = {0, 300, 64}, at = {7, 1000, 10};
  UnevenShards shards{true, {bytes, at}, {bytes, at}, 0, 0};
  const Layout layout({Collective::alltoall, 3, 2, 0}, shards);
  // 300 bytes are 5 grains: 3 and 2.
  EXPECT_THAT(parts(layout, 0, {Buffer::input, 2, 1}), testing::ElementsAre(Part{1000, 192}));
  EXPECT_THAT(parts(layout, 0, {Buffer::output, 3, 1}), testing::ElementsAre(Part{1192, 108}));
  EXPECT_THAT(parts(layout, 0, {Buffer::input, 0, 6}), testing::ElementsAre(Part{1000, 300}, Part{10, 64}));
  EXPECT_THAT(parts(layout, 0, {Buffer::input, 0, 2}), testing::IsEmpty());
  EXPECT_THAT(parts(layout, 0, {Buffer::input, 5, 1}), testing::IsEmpty());  // one grain, which is the first chunk's
}

TEST(UnevenLayout, leaves_small_shards_whole) {
  const std::vector<std::size_t> bytes = {500, 1000}, at = {0, 500};
  const UnevenShards shards{true, {bytes, at}, {bytes, at}, 0, 600};
  const Layout layout({Collective::alltoall, 2, 4, 0}, shards);
  EXPECT_THAT(parts(layout, 0, {Buffer::input, 0, 1}), testing::ElementsAre(Part{0, 500}));
  EXPECT_THAT(parts(layout, 0, {Buffer::input, 1, 3}), testing::IsEmpty());
  EXPECT_THAT(parts(layout, 0, {Buffer::input, 4, 1}), testing::ElementsAre(Part{500, 256}));
}

TEST(UnevenLayout, segments_are_slices_of_shards) {
  const std::vector<std::size_t> bytes = {640, 130}, at = {0, 640};
  const UnevenShards shards{true, {}, {bytes, at}, 640, 0};
  const Layout layout({Collective::allgather, 2, 1, 0}, shards, 2);
  EXPECT_THAT(parts(layout, 0, {Buffer::output, 0, 2}, 0), testing::ElementsAre(Part{0, 320}, Part{640, 128}));
  EXPECT_THAT(parts(layout, 0, {Buffer::output, 0, 2}, 1), testing::ElementsAre(Part{320, 320}, Part{768, 2}));
  EXPECT_THAT(parts(layout, 0, {Buffer::input, 0, 1}, 1), testing::ElementsAre(Part{320, 320}));
}

Sizes most(const char* algorithm, Collective collective) {
  const Shape shape{collective, 5, 1, 0};
  const Schedule schedule = generate(*algorithm_named(algorithm), shape, {});
  Sizes sizes = Sizes::of_messages;
  for (const Program& program : schedule.programs)
    while (!serves(program, sizes)) sizes = sizes == Sizes::of_messages ? Sizes::of_ranks : Sizes::equal;
  return sizes;
}

TEST(UnevenPrograms, are_those_whose_messages_both_ends_know) {
  EXPECT_EQ(most("linear", Collective::alltoall), Sizes::of_messages);
  EXPECT_EQ(most("pairwise", Collective::alltoall), Sizes::of_messages);
  EXPECT_EQ(most("tra", Collective::alltoall), Sizes::equal);
  EXPECT_EQ(most("linear", Collective::scatter), Sizes::of_messages);
  EXPECT_EQ(most("binomial", Collective::gather), Sizes::equal);
  EXPECT_EQ(most("ring", Collective::allgather), Sizes::of_ranks);
  EXPECT_EQ(most("bruck", Collective::allgather), Sizes::of_ranks);
}

// What is overwritten later is right where all shards are as long, and else beyond the end of its place.
TEST(UnevenPrograms, write_nothing_where_another_shard_belongs) {
  const Shape shape{Collective::alltoall, 3, 1, 0};
  const auto program_of = [&](Rank copied_to) {
    ProgramBuilder program(shape, 0);
    program.copy({{Buffer::input, 0, 1}}, {{Buffer::output, copied_to, 1}});
    for (Rank peer = 1; peer < 3; ++peer)
      program.step(1).send({{Buffer::input, peer, 1}}, peer).recv({{Buffer::output, peer, 1}}, peer);
    if (copied_to != 0) program.copy({{Buffer::input, 0, 1}}, {{Buffer::output, 0, 1}});
    return std::move(program).build();
  };
  EXPECT_TRUE(serves(program_of(0), Sizes::of_messages));
  EXPECT_FALSE(serves(program_of(2), Sizes::of_messages));
  EXPECT_FALSE(serves(program_of(2), Sizes::of_ranks));
  EXPECT_TRUE(serves(program_of(2), Sizes::equal));
}

TEST(UnevenPrograms, calls_are_rows_without_schedules_of_their_own) {
  EXPECT_EQ(call_named("alltoallv"), Collective::alltoallv);
  EXPECT_EQ(collective_named("alltoallv"), std::nullopt);
  EXPECT_EQ(scheduled(Collective::allgatherv), Collective::allgather);
  EXPECT_EQ(scheduled(Collective::bcast), Collective::bcast);
  EXPECT_TRUE(uneven(Collective::gatherv));
  EXPECT_FALSE(uneven(Collective::gather));
  EXPECT_EQ(collectives().size(), std::size_t{k_collectives});
  EXPECT_EQ(calls().size(), std::size_t{k_calls});
}

TEST(Aggregation, has_a_limit_where_hops_take_as_long_as_a_message) {
  EXPECT_NEAR(static_cast<double>(aggregation_limit(1e-6, 1e-9, 0, 2)), 1000, 1);
  EXPECT_NEAR(static_cast<double>(aggregation_limit(1e-6, 1e-9, 1e-10, 3)), 384, 1);  // 2 + 0.6 ns for a byte
  EXPECT_EQ(aggregation_limit(1e-9, 1e-9, 1e-9, 4), 64u);
  EXPECT_EQ(aggregation_limit(1, 1e-9, 1e-9, 4), 8192u);
}

}  // namespace
}  // namespace colltopo
