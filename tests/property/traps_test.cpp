// Schedules that look right and are not, made by hand: the proof must reject them, and running them must show why.

#include "colltopo/algorithms.h"
#include "colltopo/segments.h"
#include "programs.h"
#include "schedules.h"

namespace colltopo {
namespace {

Shape alltoall(Rank ranks) { return {Collective::alltoall, ranks, 1, 0}; }

// Bruck with radix 2 on 4 ranks, transit of distance 3 in slot 0; in the second round `second_slot` is received before
// slot 0 is sent on (a third round brings the block of distance 3 home by going round the circle once more).
Schedule passes_on_through(Chunk second_slot) {
  const Rank ranks = 4;
  return schedule_of("hand-made", alltoall(ranks), [&](Rank rank) {
    const auto ahead = [&](Rank d) { return (rank + d) % ranks; };
    const auto in = [&](Rank d) { return colltopo::Run{Buffer::input, ahead(d), 1}; };
    const auto out = [&](Rank d) { return colltopo::Run{Buffer::output, ahead(ranks - d), 1}; };
    ProgramBuilder program(alltoall(ranks), rank);
    program.copy({in(0)}, {out(0)});
    program.step(1).send({in(1), in(3)}, ahead(1)).recv({out(1), {Buffer::scratch, 0, 1}}, ahead(3));
    program.step(2)
        .send({in(2), {Buffer::scratch, 0, 1}}, ahead(1))
        .recv({{Buffer::scratch, 2, 1}, {Buffer::scratch, second_slot, 1}}, ahead(3));
    program.step(3)
        .send({{Buffer::scratch, 2, 1}, {Buffer::scratch, second_slot, 1}}, ahead(1))
        .recv({out(2), out(3)}, ahead(3));
    return std::move(program).build();
  });
}

TEST(Traps, exchanging_one_scratch_slot_in_place_deadlocks_under_rendezvous) {
  const Schedule one_slot = passes_on_through(0);
  EXPECT_THAT(one_slot, ::testing::Not(Verifies()));
  EXPECT_TRUE(runs_right(one_slot, {.count = 2, .protocol = Protocol::eager})) << "small messages hide it";
  EXPECT_FALSE(runs_right(one_slot, {.count = 2, .protocol = Protocol::rendezvous}));

  const Schedule two_banks = passes_on_through(1);
  EXPECT_THAT(two_banks, Verifies());
  EXPECT_TRUE(runs_right_every_way(two_banks));
}

// Two ranks swap blocks; the receives are numbered one step later than the sends that they meet.
TEST(Traps, steps_of_a_rank_of_its_own_deadlock_stepped_pacing) {
  const auto swap = [](Step step_of_recv) {
    return schedule_of("hand-made", alltoall(2), [&](Rank rank) {
      ProgramBuilder program(alltoall(2), rank);
      program.copy({{Buffer::input, rank, 1}}, {{Buffer::output, rank, 1}});
      program.step(1).send({{Buffer::input, 1 - rank, 1}}, 1 - rank);
      program.step(step_of_recv).recv({{Buffer::output, 1 - rank, 1}}, 1 - rank);
      return std::move(program).build();
    });
  };
  EXPECT_FALSE(verify(swap(2)).stepped);
  EXPECT_FALSE(runs_right(swap(2), {.pace = Pace::steps, .protocol = Protocol::rendezvous}));
  EXPECT_TRUE(runs_right(swap(2), {.pace = Pace::free, .protocol = Protocol::rendezvous}));
  EXPECT_TRUE(verify(swap(1)).stepped);
  EXPECT_TRUE(runs_right(swap(1), {.pace = Pace::steps, .protocol = Protocol::rendezvous}));
}

// Rank 1 reduces into a slot that it sends to rank 2, and so waits for that send. Rank 2 receives it last, after what
// has come from rank 1 by way of rank 0. A rank of few ops that waits for no send posts its receives in their order.
TEST(Traps, waiting_for_a_send_to_a_rank_that_starts_its_ops_in_order_deadlocks) {
  const auto made = [](bool receives_first) {
    const Shape shape{Collective::reduce, 3, 1, 2};
    return schedule_of("hand-made", shape, [&](Rank rank) {
      ProgramBuilder program(shape, rank);
      const colltopo::Run own{Buffer::input, 0, 1}, slot{Buffer::scratch, 0, 1}, unused{Buffer::scratch, 1, 1};
      if (rank == 0) {
        program.step(1).send({own}, 1);
        program.step(3).recv({slot}, 1);
        program.step(4).send({slot}, 2);
      } else if (rank == 1) {
        program.step(1).recv({slot}, 0);
        program.step(2).send({slot}, 2).reduce({own}, {slot});
        program.step(3).send({slot}, 0);
      } else {
        program.copy({own}, {{Buffer::output, 0, 1}});
        if (receives_first) program.step(2).recv({unused}, 1);
        program.step(4).recv({slot}, 0).reduce({slot}, {{Buffer::output, 0, 1}});
        if (!receives_first) program.step(2).recv({unused}, 1);
      }
      return std::move(program).build();
    });
  };
  EXPECT_TRUE(runs_right_every_way(made(true)));
  EXPECT_THAT(made(false), ::testing::Not(Verifies()));
  EXPECT_TRUE(runs_right(made(false), {.count = 2, .protocol = Protocol::eager})) << "small messages hide it";
  EXPECT_FALSE(runs_right(made(false), {.count = 2, .protocol = Protocol::rendezvous}));
}

// Rank 1 receives first, into one slot, what rank 2 passes on in step 3, and then what rank 0 sends in step 1. If rank
// 0 sends nothing in step 2 before that has come, nobody goes on.
TEST(Traps, a_window_deadlocks_where_steps_decrease_on_another_rank) {
  const Schedule schedule = schedule_of("hand-made", alltoall(3), [&](Rank rank) {
    ProgramBuilder program(alltoall(3), rank);
    const colltopo::Run slot{Buffer::scratch, 0, 1}, own{Buffer::input, rank, 1};
    if (rank == 0) program.step(1).send({own}, 1).step(2).send({own}, 2);
    if (rank == 1) program.step(3).recv({slot}, 2).step(1).recv({slot}, 0);
    if (rank == 2) program.step(2).recv({slot}, 0).step(3).send({slot}, 1);
    program.step(4).copy({own}, {{Buffer::output, rank, 1}});
    for (Rank peer = 0; peer < 3; ++peer)
      if (peer != rank) program.send({{Buffer::input, peer, 1}}, peer).recv({{Buffer::output, peer, 1}}, peer);
    return std::move(program).build();
  });
  EXPECT_THAT(schedule, Verifies());
  EXPECT_TRUE(runs_right(schedule, {.count = 2, .window = 0}));
  EXPECT_FALSE(runs_right(schedule, {.count = 2, .window = 1}));
  const StepPattern pattern = step_pattern(schedule);
  EXPECT_EQ(window_for(pattern, verify(schedule).independent, 1), 0u);
  EXPECT_TRUE(runs_right_every_way(schedule));
}

TEST(Traps, running_rotation_free_tra_in_place_gives_wrong_data_or_no_end) {
  const Schedule schedule = generate(*algorithm_named("tra"), alltoall(6), {.values = {{"radix", 2}}});
  EXPECT_FALSE(verify(schedule).in_place);
  EXPECT_FALSE(runs_right(schedule, {.in_place = true}));
}

// Doubling on a circle of three: what a rank adds in step 2 already contains what it added in step 1.
TEST(Traps, an_allreduce_that_counts_a_rank_twice_is_rejected) {
  const Shape shape{Collective::allreduce, 3, 1, 0};
  const Schedule twice = schedule_of("hand-made", shape, [&](Rank rank) {
    ProgramBuilder program(shape, rank);
    const colltopo::Run output{Buffer::output, 0, 3}, first{Buffer::scratch, 0, 3}, second{Buffer::scratch, 3, 3};
    program.copy({{Buffer::input, 0, 3}}, {output});
    program.step(1).send({output}, (rank + 1) % 3).recv({first}, (rank + 2) % 3).reduce({first}, {output});
    program.step(2).send({output}, (rank + 1) % 3).recv({second}, (rank + 2) % 3).reduce({second}, {output});
    return std::move(program).build();
  });
  EXPECT_THAT(twice, ::testing::Not(Verifies()));
  EXPECT_FALSE(runs_right(twice, {.count = 3, .protocol = Protocol::eager}));
}

}  // namespace
}  // namespace colltopo
