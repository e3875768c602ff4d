// TRA: proved and run for every radix, and as many rounds and blocks as Fan et al. prove.

#include "colltopo/algorithms.h"

#include <algorithm>
#include "programs.h"
#include "schedules.h"

namespace colltopo {
namespace {

const Algorithm& k_tra = *algorithm_named("tra");

Program one_program(Rank ranks, Rank rank, int radix) {
  return k_tra.program({Collective::alltoall, ranks, 1, 0}, rank, {.values = {{"radix", radix}}});
}

TEST(Tra, is_an_alltoall_for_every_size_and_radix) {
  for (const Rank ranks : k_sizes) {
    for (const int radix : radices_for(ranks)) {
      const Schedule schedule = generate(k_tra, {Collective::alltoall, ranks, 1, 0}, {.values = {{"radix", radix}}});
      ASSERT_THAT(schedule, Verifies());
      ASSERT_TRUE(verify(schedule).stepped) << schedule.name << " on " << ranks;
      ASSERT_TRUE(runs_right_every_way(schedule, static_cast<std::uint64_t>(ranks * 100 + radix)));
    }
  }
}

TEST(Tra, rounds_and_blocks_match_propositions_1_to_4) {
  for (Rank ranks = 1; ranks <= 512; ++ranks) {
    for (int radix = 2; radix <= std::max(2, static_cast<int>(ranks)); ++radix) {
      const std::vector<BruckRound> rounds = bruck_rounds(ranks, radix);
      ASSERT_EQ(static_cast<std::int64_t>(rounds.size()), rounds_by_proposition_3(ranks, radix))
          << ranks << " " << radix;
      std::int64_t blocks = 0;
      for (const BruckRound& round : rounds) {
        const auto moved = static_cast<std::int64_t>(round.distances.size());
        const int x = digits(round.unit, radix), z = round.hop / round.unit;
        ASSERT_EQ(moved, blocks_by_proposition_4(ranks, radix, x, z)) << ranks << " " << radix << " " << x << " " << z;
        blocks += moved;
      }
      ASSERT_EQ(blocks, blocks_by_propositions(ranks, radix)) << ranks << " " << radix;
    }
  }
}

TEST(Tra, programs_send_as_many_messages_and_blocks_as_the_rounds) {
  for (const Rank ranks : {2, 9, 11, 27, 64, 100, 255, 256, 257, 512}) {
    for (const int radix : {2, 3, 4, 7, 16, 23, 100, 255, 512}) {
      if (radix > std::max(2, static_cast<int>(ranks))) continue;
      for (const Rank rank : {0, ranks / 3, ranks - 1}) {
        const Program program = one_program(ranks, rank, radix);
        const Traffic traffic = traffic_of(program);
        ASSERT_EQ(traffic.messages, rounds_by_proposition_3(ranks, radix)) << ranks << " " << radix;
        ASSERT_EQ(traffic.last_step, traffic.messages) << ranks << " " << radix;
        ASSERT_EQ(traffic.chunks, blocks_by_propositions(ranks, radix)) << ranks << " " << radix;
      }
    }
  }
}

TEST(Tra, needs_scratch_only_for_blocks_of_several_hops) {
  EXPECT_EQ(one_program(64, 5, 64).scratch(), 0);
  // P = r^2: a block whose distance has two digits other than 0 waits once.
  EXPECT_EQ(one_program(64, 5, 8).scratch(), 7 * 7);
  // P = r^3: such a block with three waits twice, in different slots.
  EXPECT_EQ(one_program(64, 5, 4).scratch(), 3 * 3 * 3 + 3 * (3 * 3) + 3 * 3 * 3);
}

TEST(Tra, messages_arrive_in_few_runs_up_to_three_digits) {
  for (const Rank ranks : {16, 27, 31, 64, 100, 343}) {
    for (int radix = 2; radix <= ranks; ++radix) {
      if (digits(ranks, radix) > 3) continue;
      for (const Rank rank : {0, ranks / 2, ranks - 1}) {  // output, around its end, and scratch
        ASSERT_LE(traffic_of(one_program(ranks, rank, radix)).most_runs_received, 3u) << ranks << " " << radix;
      }
    }
  }
}

TEST(Tra, default_radix_is_the_square_root) {
  EXPECT_EQ(k_tra.describe({Collective::alltoall, 64, 1, 0}, {}), "radix=8");
  EXPECT_EQ(k_tra.describe({Collective::alltoall, 65, 1, 0}, {}), "radix=9");
  EXPECT_EQ(k_tra.describe({Collective::alltoall, 2, 1, 0}, {}), "radix=2");
}

// How long that takes is for benchmarks/generation.cpp to say.
TEST(Tra, one_program_of_16384_ranks_moves_what_the_paper_says) {
  const Traffic traffic = traffic_of(one_program(16384, 5461, 128));  // the numbers of III-B
  EXPECT_EQ(traffic.messages, 254);
  EXPECT_EQ(traffic.chunks, 32512);
  EXPECT_EQ(traffic_of(one_program(16384, 0, 2)).chunks, 114688);
}

TEST(Tra, is_not_safe_in_place) {
  for (const Rank ranks : {2, 5, 16}) {
    EXPECT_FALSE(verify(generate(k_tra, {Collective::alltoall, ranks, 1, 0}, {})).in_place) << ranks;
  }
}

}  // namespace
}  // namespace colltopo
