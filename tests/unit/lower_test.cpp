// Lowering of transfers, and programs derived from others.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "colltopo/derive.h"
#include "colltopo/lower.h"
#include "schedules.h"

namespace colltopo {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

// All-to-all on a one-way ring: every chunk is handed on until it is at its rank.
std::vector<Transfer> around_the_ring(Rank ranks, Chunk chunks) {
  std::vector<Transfer> transfers;
  for (Rank origin = 0; origin < ranks; ++origin) {
    for (Rank distance = 1; distance < ranks; ++distance) {
      for (Rank hop = 0; hop < distance; ++hop) {
        for (Chunk c = 0; c < chunks; ++c) {
          transfers.push_back({hop + 1 + c, (origin + hop) % ranks, (origin + hop + 1) % ranks, origin,
                               (origin + distance) % ranks, c, 0});
        }
      }
    }
  }
  return transfers;
}

TEST(Lower, a_store_and_forward_all_to_all_verifies_and_runs) {
  for (const Rank ranks : {2, 3, 5, 6}) {
    for (const Chunk chunks : {1, 3}) {
      const Schedule schedule = lower("ring", {Collective::alltoall, ranks, chunks, 0}, around_the_ring(ranks, chunks));
      EXPECT_THAT(schedule, Verifies());
      EXPECT_TRUE(verify(schedule).stepped);
      EXPECT_EQ(schedule.steps(), ranks - 1 + chunks - 1);
      for (const std::uint64_t seed : {1u, 2u}) {
        Trial trial;
        trial.count = 7;
        trial.seed = seed;
        trial.pace = seed == 1 ? Pace::free : Pace::steps;
        EXPECT_TRUE(runs_right(schedule, trial));
      }
    }
  }
}

TEST(Lower, one_message_carries_all_that_goes_the_same_way_in_a_step) {
  const Schedule schedule = lower("ring", {Collective::alltoall, 4, 1, 0}, around_the_ring(4, 1));
  for (const Program& program : schedule.programs) {
    int sends = 0;
    for (std::size_t i = 0; i < program.size(); ++i) sends += program.op(i).action == Action::send ? 1 : 0;
    EXPECT_EQ(sends, 3);
  }
}

TEST(Lower, slots_are_used_again) {
  const Schedule schedule = lower("ring", {Collective::alltoall, 9, 1, 0}, around_the_ring(9, 1));
  for (const Program& program : schedule.programs)
    EXPECT_LE(program.scratch(), 14);  // 7 in transit before and after a step
}

TEST(Lower, an_allgather_forwards_from_output) {
  std::vector<Transfer> transfers;
  for (Rank origin = 0; origin < 5; ++origin) {
    for (Rank hop = 0; hop < 4; ++hop)
      transfers.push_back({hop + 1, (origin + hop) % 5, (origin + hop + 1) % 5, origin, 0, 0, 0});
  }
  const Schedule schedule = lower("ring", {Collective::allgather, 5, 1, 0}, transfers);
  EXPECT_THAT(schedule, Verifies());
  for (const Program& program : schedule.programs) EXPECT_EQ(program.scratch(), 0);
}

TEST(Lower, impossible_transfers_are_named) {
  const Shape shape{Collective::alltoall, 3, 1, 0};
  EXPECT_THAT(
      [&] {
        lower("bad", shape, {{2, 1, 2, 0, 2, 0, 0}});
      },
      ThrowsMessage<Error>("step 2: chunk 0 of 0 for 2 from 1 to 2: the chunk is not there before this step"));
  EXPECT_THAT(
      [&] {
        lower("bad", shape, {{1, 0, 1, 0, 2, 0, 0}, {1, 1, 2, 0, 2, 0, 0}});
      },
      ThrowsMessage<Error>(HasSubstr("not there before this step")));
  EXPECT_THAT(
      [&] {
        lower("bad", shape, {{1, 0, 1, 0, 1, 0, 0}, {2, 0, 1, 0, 1, 0, 0}});
      },
      ThrowsMessage<Error>(HasSubstr("at its target already")));
  EXPECT_THAT(
      [&] {
        lower("bad", shape, {{1, 0, 3, 0, 2, 0, 0}});
      },
      ThrowsMessage<Error>(HasSubstr("different ones of 0..2")));
  EXPECT_THAT([&] { lower("bad", shape, {{0, 0, 1, 0, 1, 0, 0}}); }, ThrowsMessage<Error>(HasSubstr("steps from 1")));
  EXPECT_THAT([&] { lower("bad", {Collective::reduce, 3, 1, 0}, {}); }, ThrowsMessage<Error>(HasSubstr("not reduce")));
}

// A star: rank 0 hands everything on.
Program star_allgather(Rank ranks, Rank rank) {
  ProgramBuilder b({Collective::allgather, ranks, 1, 0}, rank);
  b.copy({{Buffer::input, 0, 1}}, {{Buffer::output, rank, 1}});
  if (rank == 0) {
    for (Rank r = 1; r < ranks; ++r) b.step(1).recv({{Buffer::output, r, 1}}, r);
    for (Rank r = 1; r < ranks; ++r)
      b.step(2).send({{Buffer::output, 0, r}, {Buffer::output, r + 1, ranks - r - 1}}, r);
  } else {
    b.step(1).send({{Buffer::input, 0, 1}}, 0);
    b.step(2).recv({{Buffer::output, 0, rank}, {Buffer::output, rank + 1, ranks - rank - 1}}, 0);
  }
  return std::move(b).build();
}

TEST(Derive, reductions_are_the_gather_run_backwards) {
  for (const Rank ranks : {2, 3, 6}) {
    const auto with = [&](Collective collective, Rank root, const std::function<Program(const Program&)>& derive) {
      return schedule_of("star", {collective, ranks, 1, root},
                         [&](Rank rank) { return derive(star_allgather(ranks, rank)); });
    };
    const Schedule all[] = {
        with(Collective::reduce_scatter, 0, [](const Program& p) { return reduce_scatter_from(p, 2); }),
        with(Collective::allreduce, 0, [](const Program& p) { return allreduce_from(p, 2); }),
        with(Collective::bcast, ranks - 1, [&](const Program& p) { return bcast_from(p, ranks - 1); }),
        with(Collective::reduce, ranks - 1, [&](const Program& p) { return reduce_from(bcast_from(p, ranks - 1), 2); }),
    };
    for (const Schedule& schedule : all) {
      EXPECT_THAT(schedule, Verifies());
      for (const std::size_t count : {1u, 10u}) {
        Trial trial;
        trial.count = count;
        EXPECT_TRUE(runs_right(schedule, trial)) << name(schedule.shape.collective);
      }
    }
    EXPECT_TRUE(verify(all[1]).same_on_all_ranks);
    EXPECT_TRUE(verify(all[1]).in_place);
    EXPECT_EQ(all[1].steps(), 4);
  }
}

TEST(Derive, what_cannot_be_reversed_is_refused) {
  ProgramBuilder twice({Collective::allgather, 2, 1, 0}, 0);
  twice.step(1).recv({{Buffer::output, 1, 1}}, 1).recv({{Buffer::output, 1, 1}}, 1);
  EXPECT_THROW(reduce_scatter_from(std::move(twice).build(), 1), Error);
  ProgramBuilder scratch({Collective::allgather, 2, 1, 0}, 0);
  scratch.step(1).recv({{Buffer::scratch, 0, 1}}, 1);
  const Program with_scratch = std::move(scratch).build();
  EXPECT_THAT([&] { reduce_scatter_from(with_scratch, 1); }, ThrowsMessage<Error>(HasSubstr("uses scratch")));
  const Program alltoall = ProgramBuilder({Collective::alltoall, 2, 1, 0}, 0).build();
  EXPECT_THAT([&] { allreduce_from(alltoall, 1); }, ThrowsMessage<Error>(HasSubstr("expected a program of allgather")));
}

}  // namespace
}  // namespace colltopo
