// Two levels: proved and run for equal, unequal and scattered groups, any number of leaders, slices and roots; what
// crosses between groups crosses once.

#include <algorithm>
#include <random>

#include "colltopo/algorithms.h"
#include "colltopo/groups.h"
#include "programs.h"
#include "schedules.h"

namespace colltopo {
namespace {

const Algorithm& k_two_level = *algorithm_named("two-level");

const std::vector<std::vector<int>> k_placements = {
    {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3},  // 4 hosts of 4
    {0, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3},  // hosts of 1, 3, 4 and 8
    {0, 1, 2, 0, 1, 2, 0, 1, 2},                       // in turn
    {0, 0, 0, 0, 0, 1},
    {0, 1, 1, 1, 1, 1, 1},
    {0, 0, 0},
    {0, 1, 2, 3, 4},
    {0},
    {0, 0, 1, 1, 2, 2, 3, 3, 4, 4},
    {2, 0, 2, 1, 0, 2, 2, 1, 2, 0, 3},  // anywhere
};

AlgorithmOptions among(const std::vector<int>& group_of, int leaders, int slices = 1) {
  return {.values = {{"leaders", leaders}, {"slices", slices}}, .groups = grouped(group_of)};
}

std::vector<Rank> some_roots(Collective collective, Rank ranks) {
  return rooted(collective) ? std::vector<Rank>{0, ranks / 2, ranks - 1} : std::vector<Rank>{0};
}

TEST(TwoLevel, is_right_for_any_groups_leaders_slices_and_roots) {
  for (const auto& group_of : k_placements) {
    const auto ranks = static_cast<Rank>(group_of.size());
    for (const Collective collective : k_two_level.collectives)
      for (const Rank root : some_roots(collective, ranks))
        for (const int leaders : {0, 1, 2, 3})
          for (const int slices : {1, 3}) {
            const Schedule schedule =
                generate(k_two_level, {collective, ranks, 1, root}, among(group_of, leaders, slices));
            ASSERT_THAT(schedule, Verifies()) << schedule.name;
            ASSERT_TRUE(runs_right_every_way(schedule, static_cast<std::uint64_t>(ranks + root))) << schedule.name;
            const Verdict verdict = verify(schedule);
            ASSERT_TRUE(verdict.stepped) << schedule.name;
            const Properties stated = k_two_level.properties(schedule.shape, among(group_of, leaders, slices));
            ASSERT_LE(stated.in_place, verdict.in_place) << schedule.name << name(collective);
            ASSERT_LE(stated.keeps_rank_order, verdict.keeps_rank_order) << schedule.name;
            ASSERT_LE(stated.same_on_all_ranks, verdict.same_on_all_ranks) << schedule.name << name(collective);
            ASSERT_GE(k_two_level.steps(schedule.shape, among(group_of, leaders, slices)), schedule.steps());
          }
  }
}

TEST(TwoLevel, is_right_with_any_radix_between_groups) {
  for (const auto& group_of : k_placements) {
    const auto ranks = static_cast<Rank>(group_of.size());
    for (const Collective collective : k_two_level.collectives)
      for (const Rank root : some_roots(collective, ranks))
        for (const int leaders : {0, 1, 2})
          for (const int halving : {0, 1})
            for (const int radix : {3, 4, 5}) {
              AlgorithmOptions options = among(group_of, leaders);
              options.values.set({{"inter-radix", radix}, {"halving", halving}});
              const Schedule schedule = generate(k_two_level, {collective, ranks, 1, root}, options);
              ASSERT_THAT(schedule, Verifies()) << schedule.name;
              ASSERT_TRUE(runs_right_every_way(schedule, static_cast<std::uint64_t>(ranks + root))) << schedule.name;
              const Verdict verdict = verify(schedule);
              const Properties stated = k_two_level.properties(schedule.shape, options);
              ASSERT_LE(stated.in_place, verdict.in_place) << schedule.name << name(collective);
              ASSERT_LE(stated.keeps_rank_order, verdict.keeps_rank_order) << schedule.name;
              ASSERT_LE(stated.same_on_all_ranks, verdict.same_on_all_ranks) << schedule.name << name(collective);
              ASSERT_GE(k_two_level.steps(schedule.shape, options), schedule.steps()) << schedule.name;
            }
  }
}

TEST(TwoLevel, with_the_radix_of_all_groups_what_is_between_them_takes_one_step) {
  AlgorithmOptions two = among(k_placements[0], 1), all = two;
  all.values.set("inter-radix", 4);
  for (const Collective collective : k_two_level.collectives) {
    const Shape shape{collective, 16, 1, 0};
    EXPECT_EQ(k_two_level.steps(shape, two), k_two_level.steps(shape, all) + 1) << name(collective);
  }
}

TEST(TwoLevel, an_allgather_sends_every_shard_to_every_other_group_once) {
  for (const auto& group_of : k_placements) {
    const auto ranks = static_cast<Rank>(group_of.size());
    for (const int leaders : {0, 1, 2}) {
      const AlgorithmOptions options = among(group_of, leaders);
      const Groups& groups = *options.groups;
      const Schedule schedule = generate(k_two_level, {Collective::allgather, ranks, 1, 0}, options);
      Chunk crossing = 0;
      for (const Program& program : schedule.programs)
        crossing += traffic_of(program, [&](Rank peer) {
                      return groups.group_of(peer) != groups.group_of(program.rank());
                    }).chunks;
      EXPECT_EQ(crossing, ranks * (groups.groups() - 1)) << schedule.name;
    }
  }
}

TEST(TwoLevel, with_all_leaders_the_ranks_of_equal_groups_share_the_network_evenly) {
  const AlgorithmOptions options = among(k_placements[0], 0);
  const Schedule schedule = generate(k_two_level, {Collective::allreduce, 16, 1, 0}, options);
  for (const Program& program : schedule.programs) {
    const Traffic across = traffic_of(program, [&](Rank peer) { return peer / 4 != program.rank() / 4; });
    EXPECT_EQ(across.chunks, 2 * 3) << "3 shards of 16 to each half";
    EXPECT_EQ(across.messages, 2 * 2) << "2 rounds among 4 hosts";
  }
}

TEST(TwoLevel, with_one_leader_one_rank_of_a_group_uses_the_network) {
  for (const Collective collective : {Collective::allreduce, Collective::allgather, Collective::bcast}) {
    const Schedule schedule = generate(k_two_level, {collective, 16, 1, 0}, among(k_placements[0], 1));
    for (const Program& program : schedule.programs) {
      const Traffic across = traffic_of(program, [&](Rank peer) { return peer / 4 != program.rank() / 4; });
      if (program.rank() % 4 != 0) {
        EXPECT_EQ(across.messages, 0) << schedule.name << program.rank();
      }
    }
  }
}

TEST(TwoLevel, slices_follow_each_other_through_the_levels) {
  const AlgorithmOptions one = among(k_placements[0], 0), four = among(k_placements[0], 0, 4);
  const Shape shape{Collective::allgather, 16, 1, 0};
  // Two rounds per level: a slice begins two steps after the one before it, not four.
  EXPECT_EQ(k_two_level.steps(shape, one), 4);
  EXPECT_EQ(k_two_level.steps(shape, four), 4 + 3 * 2);
}

TEST(TwoLevel, an_allreduce_that_halves_sends_each_leader_as_little_as_can_be) {
  for (const auto& group_of : k_placements) {
    AlgorithmOptions options = among(group_of, 1);
    options.values.set("halving", 1);
    const Shape shape{Collective::allreduce, static_cast<Rank>(group_of.size()), 1, 0};
    const Schedule schedule = generate(k_two_level, shape, options);
    ASSERT_THAT(schedule, Verifies()) << schedule.name;
    ASSERT_TRUE(runs_right_every_way(schedule, 7)) << schedule.name;
    ASSERT_EQ(k_two_level.steps(shape, options), schedule.steps()) << schedule.name;
    const Groups& groups = *options.groups;
    for (const Program& program : schedule.programs) {
      const Rank group = groups.group_of(program.rank());
      const Chunk across = traffic_of(program, [&](Rank peer) { return groups.group_of(peer) != group; }).chunks;
      const Chunk part = schedule.shape.whole() / groups.groups();
      EXPECT_EQ(across, groups.position_of(program.rank()) == 0 ? 2 * (groups.groups() - 1) * part : 0)
          << schedule.name;
    }
  }
}

TEST(Chain, is_right_for_any_groups_pieces_and_roots) {
  const Algorithm& chain = *algorithm_named("chain");
  for (const auto& group_of : k_placements) {
    const auto ranks = static_cast<Rank>(group_of.size());
    for (const Collective collective : chain.collectives)
      for (Rank root = 0; root < ranks; ++root)
        for (const int pieces : {1, 2, 5}) {
          const AlgorithmOptions options = {.values = {{"pieces", pieces}}, .groups = grouped(group_of)};
          const Schedule schedule = generate(chain, {collective, ranks, 1, root}, options);
          ASSERT_THAT(schedule, Verifies()) << schedule.name;
          ASSERT_TRUE(runs_right_every_way(schedule, static_cast<std::uint64_t>(ranks + root))) << schedule.name;
          ASSERT_EQ(chain.steps(schedule.shape, options), schedule.steps()) << schedule.name << root;
        }
  }
}

TEST(Chain, takes_a_piece_over_every_link_between_groups_in_every_step) {
  const AlgorithmOptions options = {.values = {{"pieces", 8}}, .groups = grouped(k_placements[0])};
  const Schedule schedule = generate(*algorithm_named("chain"), {Collective::bcast, 16, 1, 5}, options);
  EXPECT_EQ(schedule.steps(), 3 + 3 + 8 - 1) << "groups and ranks of the last one after the root, pieces";
  for (const Program& program : schedule.programs) {
    const Traffic across = traffic_of(program, [&](Rank peer) { return peer / 4 != program.rank() / 4; });
    const bool leads = program.rank() == 5 || program.rank() == 8 || program.rank() == 12;
    EXPECT_EQ(across.chunks, leads ? 8 : 0) << program.rank();
  }
}

}  // namespace
}  // namespace colltopo
