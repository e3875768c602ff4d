// The verifier: what it proves, and the traps that it must not miss.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "schedules.h"

namespace colltopo {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

Schedule made(const Shape& shape, const std::function<void(ProgramBuilder&, Rank)>& fill) {
  return schedule_of("made", shape, [&](Rank rank) {
    ProgramBuilder builder(shape, rank);
    fill(builder, rank);
    return std::move(builder).build();
  });
}

std::string first_violation(const Schedule& schedule) {
  const Verdict verdict = verify(schedule);
  return verdict.violations.empty() ? "" : to_string(verdict.violations.front());
}

// Everybody sends every shard straight to its rank.
void exchange(ProgramBuilder& b, Rank rank) {
  b.copy({{Buffer::input, rank, 1}}, {{Buffer::output, rank, 1}});
  for (Rank peer = 0; peer < b.shape().ranks; ++peer) {
    if (peer != rank) b.step(1).send({{Buffer::input, peer, 1}}, peer).recv({{Buffer::output, peer, 1}}, peer);
  }
}

const Shape k_pair{Collective::alltoall, 2, 1, 0};

TEST(Verify, a_straight_exchange_is_right_but_not_in_place) {
  const Verdict verdict = verify(made({Collective::alltoall, 3, 1, 0}, exchange));
  EXPECT_THAT(verdict.violations, IsEmpty());
  EXPECT_TRUE(verdict.stepped);
  EXPECT_FALSE(verdict.in_place);
}

TEST(Verify, a_missing_chunk_is_named) {
  EXPECT_EQ(first_violation(made(k_pair,
                                 [](ProgramBuilder& b, Rank r) {
                                   if (r == 0)
                                     b.step(1).send({{Buffer::input, 1, 1}}, 1).recv({{Buffer::output, 1, 1}}, 1);
                                   else
                                     exchange(b, r);
                                 })),
            "rank 0: output:0 ends with nothing, not chunk 0 of rank 0");
}

TEST(Verify, lengths_must_agree) {
  const Schedule schedule = made({Collective::alltoall, 2, 2, 0}, [](ProgramBuilder& b, Rank r) {
    if (r == 0)
      b.send({{Buffer::input, 2, 2}}, 1).recv({{Buffer::output, 2, 2}}, 1);
    else
      b.send({{Buffer::input, 0, 1}}, 0).recv({{Buffer::output, 0, 2}}, 0);
  });
  EXPECT_THAT(first_violation(schedule), HasSubstr("rank 0 op 1: receives 2 chunks from 1, which sends 1 (op 0)"));
}

TEST(Verify, steps_and_lanes_must_agree_at_both_ends) {
  const auto with = [](Step step, Lane lane) {
    return made(k_pair, [=](ProgramBuilder& b, Rank r) {
      b.copy({{Buffer::input, r, 1}}, {{Buffer::output, r, 1}}).step(1).send({{Buffer::input, 1 - r, 1}}, 1 - r, 0);
      b.step(r == 0 ? step : 1).recv({{Buffer::output, 1 - r, 1}}, 1 - r, r == 0 ? lane : 0);
    });
  };
  EXPECT_EQ(first_violation(with(1, 0)), "");
  EXPECT_THAT(first_violation(with(2, 0)), HasSubstr("receives in step 2 on lane 0 what 1 sends in step 1 on lane 0"));
  EXPECT_THAT(first_violation(with(1, 1)), HasSubstr("both ends must agree"));
}

TEST(Verify, messages_without_a_partner_are_found) {
  EXPECT_THAT(first_violation(made(k_pair,
                                   [](ProgramBuilder& b, Rank r) {
                                     exchange(b, r);
                                     if (r == 0) b.send({{Buffer::input, 0, 1}}, 1);
                                   })),
              HasSubstr("rank 0 op 3: sends a message that 1 never receives"));
  EXPECT_THAT(first_violation(made(k_pair,
                                   [](ProgramBuilder& b, Rank r) {
                                     exchange(b, r);
                                     if (r == 0) b.recv({{Buffer::scratch, 0, 1}}, 1);
                                   })),
              HasSubstr("rank 0 op 3: waits for ever for a message from 1"));
}

TEST(Verify, reading_what_nothing_wrote_is_found) {
  EXPECT_THAT(first_violation(made(k_pair,
                                   [](ProgramBuilder& b, Rank r) {
                                     exchange(b, r);
                                     b.copy({{Buffer::scratch, 3, 1}}, {{Buffer::scratch, 4, 1}});
                                   })),
              HasSubstr("reads scratch:3, which nothing has written"));
}

// First trap of the design: one scratch slot that is sent and received into. Sequentially right, a deadlock when a send
// waits for its receive.
TEST(Verify, an_in_place_exchange_of_one_scratch_slot_deadlocks_under_rendezvous) {
  const auto exchange_slot = [](Chunk arrives_in) {
    return made({Collective::alltoall, 2, 1, 0}, [=](ProgramBuilder& b, Rank r) {
      b.copy({{Buffer::input, r, 1}}, {{Buffer::output, r, 1}})
          .copy({{Buffer::input, 1 - r, 1}}, {{Buffer::scratch, 0, 1}});
      b.step(1).send({{Buffer::scratch, 0, 1}}, 1 - r).recv({{Buffer::scratch, arrives_in, 1}}, 1 - r);
      b.copy({{Buffer::scratch, arrives_in, 1}}, {{Buffer::output, 1 - r, 1}});
    });
  };
  EXPECT_THAT(first_violation(exchange_slot(0)), HasSubstr("deadlock under rendezvous"));
  EXPECT_EQ(first_violation(exchange_slot(1)), "");
  LoopbackRun run;
  run.protocol = Protocol::rendezvous;
  const std::vector<std::vector<std::byte>> inputs(2, std::vector<std::byte>(16));
  EXPECT_THROW(run_loopback(exchange_slot(0), run, inputs), Error);
  EXPECT_NO_THROW(run_loopback(exchange_slot(1), run, inputs));
  run.protocol = Protocol::eager;
  EXPECT_NO_THROW(run_loopback(exchange_slot(0), run, inputs));
}

// Second trap: an exchange that adds a contribution twice, as latency-optimal Swing does off powers of two.
TEST(Verify, a_contribution_counted_twice_is_found) {
  const Schedule schedule = made({Collective::allreduce, 3, 1, 0}, [](ProgramBuilder& b, Rank r) {
    b.copy({{Buffer::input, 0, 3}}, {{Buffer::output, 0, 3}});
    for (const int distance : {1, 1}) {  // all to the right, twice: the second time partial sums overlap
      b.step(b.shape().ranks).send({{Buffer::output, 0, 3}}, (r + distance) % 3);
      b.recv({{Buffer::scratch, 0, 3}}, (r + 3 - distance) % 3);
      b.reduce({{Buffer::scratch, 0, 3}}, {{Buffer::output, 0, 3}});
    }
  });
  EXPECT_THAT(first_violation(schedule), HasSubstr("counts the contribution of rank"));
}

// Third trap: steps that ranks number for themselves. Either the two ends disagree, which is a fault, or a rank has to
// send in step 1 what it receives in step 2, which blocks a rank that goes step by step.
TEST(Verify, a_reduction_that_leaves_a_rank_out_is_named) {
  const Schedule schedule = made({Collective::reduce, 3, 1, 0}, [](ProgramBuilder& b, Rank rank) {
    if (rank == 1) b.step(1).send({{Buffer::input, 0, 1}}, 0);
    if (rank != 0) return;
    b.copy({{Buffer::input, 0, 1}}, {{Buffer::output, 0, 1}});
    b.step(1).recv({{Buffer::scratch, 0, 1}}, 1).reduce({{Buffer::scratch, 0, 1}}, {{Buffer::output, 0, 1}});
  });
  EXPECT_THAT(first_violation(schedule), HasSubstr("rank 0: output:0 ends with chunk 0 reduced over ranks 0, 1, not"));
}

TEST(Verify, steps_that_wait_for_each_other_are_not_stepped) {
  const auto relay = [](Step second_hop) {  // shard 0 -> 2 goes through rank 1
    return made({Collective::alltoall, 3, 1, 0}, [=](ProgramBuilder& b, Rank r) {
      b.copy({{Buffer::input, r, 1}}, {{Buffer::output, r, 1}});
      if (r == 0) b.step(2).send({{Buffer::input, 2, 1}}, 1);
      if (r == 1) {
        b.step(2).recv({{Buffer::scratch, 0, 1}}, 0);
        b.step(second_hop).send({{Buffer::scratch, 0, 1}}, 2);
      }
      if (r == 2) b.step(second_hop).recv({{Buffer::output, 0, 1}}, 1);
      for (const Rank to : {0, 1, 2}) {
        for (const Rank from : {0, 1, 2}) {
          if (from == to || (from == 0 && to == 2)) continue;
          b.step(4);
          if (r == from) b.send({{Buffer::input, to, 1}}, to);
          if (r == to) b.recv({{Buffer::output, from, 1}}, from);
        }
      }
    });
  };
  EXPECT_TRUE(verify(relay(3)).stepped);
  const Verdict early = verify(relay(1));
  EXPECT_TRUE(early.valid());
  EXPECT_FALSE(early.stepped);

  LoopbackRun run;
  run.pace = Pace::steps;
  const std::vector<std::vector<std::byte>> inputs(3, std::vector<std::byte>(24));
  EXPECT_NO_THROW(run_loopback(relay(3), run, inputs));
  EXPECT_THROW(run_loopback(relay(1), run, inputs), Error);
  run.pace = Pace::free;
  EXPECT_NO_THROW(run_loopback(relay(1), run, inputs));
}

TEST(Verify, same_on_all_ranks_sees_the_order_of_operands) {
  const auto pairwise_sum = [](bool lower_first) {
    return made({Collective::allreduce, 2, 1, 0}, [=](ProgramBuilder& b, Rank r) {
      b.step(1).send({{Buffer::input, 0, 2}}, 1 - r).recv({{Buffer::scratch, 0, 2}}, 1 - r);
      if (r == 0 && lower_first) {  // mine (op) theirs
        b.reduce({{Buffer::input, 0, 2}}, {{Buffer::scratch, 0, 2}})
            .copy({{Buffer::scratch, 0, 2}}, {{Buffer::output, 0, 2}});
      } else {
        b.copy({{Buffer::input, 0, 2}}, {{Buffer::output, 0, 2}})
            .reduce({{Buffer::scratch, 0, 2}}, {{Buffer::output, 0, 2}});
      }
    });
  };
  EXPECT_TRUE(verify(pairwise_sum(true)).same_on_all_ranks);
  EXPECT_TRUE(verify(pairwise_sum(true)).keeps_rank_order);
  EXPECT_TRUE(verify(pairwise_sum(false)).valid());
  EXPECT_FALSE(verify(pairwise_sum(false)).same_on_all_ranks);
  EXPECT_FALSE(verify(pairwise_sum(false)).keeps_rank_order);
}

TEST(Verify, in_place_is_allowed_where_every_chunk_is_read_before_it_is_overwritten) {
  const Shape shape{Collective::allgather, 2, 1, 0};
  const auto gather = [&](bool copies) {
    return made(shape, [=](ProgramBuilder& b, Rank r) {
      if (copies) b.copy({{Buffer::input, 0, 1}}, {{Buffer::output, r, 1}});
      b.step(1).send({{Buffer::input, 0, 1}}, 1 - r).recv({{Buffer::output, 1 - r, 1}}, 1 - r);
    });
  };
  EXPECT_TRUE(verify(gather(true)).in_place);
  EXPECT_FALSE(verify(gather(false)).valid());  // right in place only: MPI calls it out of place as well
}

TEST(Verify, in_place_an_op_does_not_move_a_chunk_onto_the_place_of_another) {
  const Shape shape{Collective::allreduce, 2, 1, 0};
  const Schedule schedule = made(shape, [](ProgramBuilder& b, Rank r) {
    b.copy({{Buffer::input, 0, 2}}, {{Buffer::scratch, 0, 2}});
    b.step(1).send({{Buffer::input, 0, 2}}, 1 - r).recv({{Buffer::scratch, 2, 2}}, 1 - r);
    b.reduce({{Buffer::scratch, 2, 2}}, {{Buffer::scratch, 0, 2}});
    b.copy({{Buffer::scratch, 0, 2}}, {{Buffer::output, 0, 2}});
  });
  EXPECT_TRUE(verify(schedule).in_place);
  const Schedule onto_input = made(shape, [](ProgramBuilder& b, Rank r) {
    b.step(1).send({{Buffer::input, 0, 2}}, 1 - r).recv({{Buffer::output, 0, 2}}, 1 - r);
    b.reduce({{Buffer::input, 0, 2}}, {{Buffer::output, 0, 2}});
  });
  EXPECT_TRUE(verify(onto_input).valid());
  EXPECT_FALSE(verify(onto_input).in_place);
}

// Halves are exchanged and reduced, and rank 1 first copies all of its input. `late`: the copy of what the other rank
// gets is listed behind the send that reads it. In place that copy waits for the send of a later step.
Schedule halving(bool late) {
  return made({Collective::allreduce, 2, 1, 0}, [=](ProgramBuilder& b, Rank r) {
    b.copy({{Buffer::input, r, 1}}, {{Buffer::output, r, 1}});
    if (!late) b.copy({{Buffer::input, 1 - r, 1}}, {{Buffer::output, 1 - r, 1}});
    b.step(1).send({{Buffer::input, 1 - r, 1}}, 1 - r);
    if (late) b.step(0).copy({{Buffer::input, 1 - r, 1}}, {{Buffer::output, 1 - r, 1}});
    b.step(1).recv({{Buffer::scratch, r, 1}}, 1 - r).reduce({{Buffer::scratch, r, 1}}, {{Buffer::output, r, 1}});
    b.step(2).send({{Buffer::output, r, 1}}, 1 - r).recv({{Buffer::output, 1 - r, 1}}, 1 - r);
  });
}

TEST(Verify, stepped_holds_in_place_as_well) {
  for (const bool late : {false, true}) {
    const Verdict verdict = verify(halving(late));
    ASSERT_TRUE(verdict.valid());
    EXPECT_TRUE(verdict.in_place);
    EXPECT_EQ(verdict.stepped, !late);
    for (const bool in_place : {false, true}) {
      const Trial trial{.count = 4, .pace = Pace::steps, .in_place = in_place};
      EXPECT_EQ(static_cast<bool>(runs_right(halving(late), trial)), !late || !in_place) << trial;
    }
  }
}

// What each rank sends it receives into the same place, in place alone.
TEST(Verify, independent_holds_in_place_as_well) {
  const auto gather = [](bool again) {
    return made({Collective::allgather, 2, 1, 0}, [=](ProgramBuilder& b, Rank r) {
      b.copy({{Buffer::input, 0, 1}}, {{Buffer::output, r, 1}});
      b.step(1).send({{Buffer::input, 0, 1}}, 1 - r).recv({{Buffer::output, 1 - r, 1}}, 1 - r);
      if (again) b.step(1).copy({{Buffer::input, 0, 1}}, {{Buffer::output, r, 1}});
    });
  };
  for (const bool again : {false, true}) {
    const Verdict verdict = verify(gather(again));
    ASSERT_TRUE(verdict.valid());
    EXPECT_TRUE(verdict.in_place);
    EXPECT_EQ(verdict.independent, !again);
  }
}

// In place, both ranks' contributions change places before they are reduced: right, but in the other order.
TEST(Verify, the_order_of_operands_holds_in_place_as_well) {
  const Schedule swapped = made({Collective::allreduce, 2, 1, 0}, [](ProgramBuilder& b, Rank r) {
    b.step(1).send({{Buffer::input, 0, 2}}, 1 - r).recv({{Buffer::scratch, 0, 2}}, 1 - r);
    b.step(2).copy({{Buffer::scratch, 0, 2}}, {{Buffer::output, 0, 2}});
    b.step(3).send({{Buffer::input, 0, 2}}, 1 - r).recv({{Buffer::scratch, 2, 2}}, 1 - r);
    // Out of place mine is in the input and theirs in `scratch 2`; in place it is the other way round.
    if (r == 0) {
      b.copy({{Buffer::scratch, 2, 2}}, {{Buffer::scratch, 4, 2}});
      b.reduce({{Buffer::input, 0, 2}}, {{Buffer::scratch, 4, 2}});
    } else {
      b.copy({{Buffer::input, 0, 2}}, {{Buffer::scratch, 4, 2}});
      b.reduce({{Buffer::scratch, 2, 2}}, {{Buffer::scratch, 4, 2}});
    }
    b.step(4).copy({{Buffer::scratch, 4, 2}}, {{Buffer::output, 0, 2}});
  });
  const Verdict verdict = verify(swapped);
  ASSERT_TRUE(verdict.valid());
  EXPECT_TRUE(verdict.in_place);
  EXPECT_FALSE(verdict.keeps_rank_order);
  EXPECT_TRUE(verdict.same_on_all_ranks);
  EXPECT_TRUE(runs_right(swapped, {.count = 4, .reduction = Reduction::affine}));
  EXPECT_FALSE(runs_right(swapped, {.count = 4, .in_place = true, .reduction = Reduction::affine}));
}

TEST(Verify, programs_of_another_shape_are_refused) {
  Schedule schedule = made(k_pair, exchange);
  schedule.programs.pop_back();
  EXPECT_EQ(first_violation(schedule), "1 programs for 2 ranks");
  schedule.programs.push_back(schedule.programs.front());
  EXPECT_THAT(first_violation(schedule), HasSubstr("another shape or rank"));
}

}  // namespace
}  // namespace colltopo
