// TRA2: proved and run for equal, unequal and scattered groups; the paper's rounds when groups are equal.

#include <algorithm>
#include <random>

#include "colltopo/algorithms.h"
#include "colltopo/groups.h"
#include "programs.h"
#include "schedules.h"

namespace colltopo {
namespace {

const Algorithm& k_tra2 = *algorithm_named("tra2");

Shape alltoall(Rank ranks) { return {Collective::alltoall, ranks, 1, 0}; }

AlgorithmOptions in_groups(int group, int intra, int inter) {
  return {.values = {{"group", group}, {"intra-radix", intra}, {"inter-radix", inter}}};
}

AlgorithmOptions among(const std::vector<int>& group_of, int intra, int inter) {
  return {.values = {{"intra-radix", intra}, {"inter-radix", inter}}, .groups = grouped(group_of)};
}

void expect_right(Rank ranks, const AlgorithmOptions& options, std::uint64_t seed) {
  const Schedule schedule = generate(k_tra2, alltoall(ranks), options);
  ASSERT_THAT(schedule, Verifies());
  ASSERT_TRUE(verify(schedule).stepped) << schedule.name;
  ASSERT_TRUE(runs_right_every_way(schedule, seed));

  // Whatever the groups: first within them, as long as the largest needs, then between them.
  const auto group = options.values.find("group");
  const Groups groups = group ? Groups(ranks, *group) : *options.groups;
  const int intra = fitted_radix(options.values, "intra-radix", groups.largest());
  const int inter = fitted_radix(options.values, "inter-radix", groups.groups());
  const Step within = static_cast<Step>(bruck_rounds(groups.largest(), intra).size());
  const Step between = static_cast<Step>(bruck_rounds(groups.groups(), inter).size());
  ASSERT_EQ(schedule.steps(), within + between) << schedule.name;
  for (const Program& program : schedule.programs) {
    for (std::size_t i = 0; i < program.size(); ++i) {
      const Op op = program.op(i);
      if (op.action != Action::send) continue;
      const bool same = groups.group_of(op.peer) == groups.group_of(program.rank());
      ASSERT_EQ(same, op.step <= within) << schedule.name << " rank " << program.rank() << " op " << i;
    }
  }
}

std::vector<int> some_radices(Rank size) {
  const std::vector<int> all = radices_for(size);
  return all.size() <= 3 ? all : std::vector<int>{all.front(), all[all.size() / 2], all.back()};
}

TEST(Tra2, is_an_alltoall_for_every_group_size_and_radices) {
  for (const Rank ranks : k_sizes) {
    for (int group = 1; group <= ranks; ++group) {
      if (ranks % group != 0) continue;
      for (const int intra : some_radices(group)) {
        for (const int inter : some_radices(ranks / group)) {
          const AlgorithmOptions options = in_groups(group, intra, inter);
          ASSERT_NO_FATAL_FAILURE(expect_right(ranks, options, static_cast<std::uint64_t>(ranks * group)));
        }
      }
    }
  }
}

TEST(Tra2, is_an_alltoall_for_groups_that_leave_a_smaller_last_one) {
  for (const Rank ranks : k_sizes) {
    for (int group = 2; group <= ranks + 1; group += ranks <= 17 ? 1 : 7) {
      for (const int radix : {2, 3, 100})  // 100: as many as there are
        ASSERT_NO_FATAL_FAILURE(expect_right(ranks, in_groups(group, radix, radix), static_cast<std::uint64_t>(ranks)));
    }
  }
}

TEST(Tra2, equal_groups_take_K1_plus_K2_rounds_and_the_blocks_of_both_epochs) {
  for (const auto& [members, groups] :
       std::vector<std::pair<Rank, Rank>>{{4, 2}, {2, 4}, {6, 5}, {8, 8}, {9, 3}, {16, 32}}) {
    const Rank ranks = members * groups;
    for (const int intra : some_radices(members)) {
      for (const int inter : some_radices(groups)) {
        const AlgorithmOptions options = in_groups(members, intra, inter);
        for (const Rank rank : {0, ranks / 2, ranks - 1}) {
          const Program program = k_tra2.program(alltoall(ranks), rank, options);
          const auto neighbour = [&, q = members](Rank peer) { return peer / q == rank / q; };
          const Traffic within = traffic_of(program, neighbour);
          const Traffic between = traffic_of(program, [&](Rank peer) { return !neighbour(peer); });
          ASSERT_EQ(within.messages, rounds_by_proposition_3(members, intra));
          ASSERT_EQ(between.messages, rounds_by_proposition_3(groups, inter));
          ASSERT_EQ(within.chunks, groups * blocks_by_propositions(members, intra));
          ASSERT_EQ(between.chunks, members * blocks_by_propositions(groups, inter));
        }
      }
    }
  }
}

TEST(Tra2, is_an_alltoall_for_any_grouping_of_ranks) {
  std::mt19937 random(2024);
  for (const Rank ranks : k_sizes) {
    for (int attempt = 0; attempt < 6; ++attempt) {
      std::vector<int> group_of;
      const int names = 1 + static_cast<int>(random() % static_cast<unsigned>(ranks));
      for (Rank rank = 0; rank < ranks; ++rank) {
        // Some names are much more frequent than others; they are not 0, 1, 2 ...
        const auto pick = std::min(random() % static_cast<unsigned>(names), random() % static_cast<unsigned>(names));
        group_of.push_back(1000 - 7 * static_cast<int>(pick));
      }
      const Groups groups(group_of);
      const std::vector<int> intra = some_radices(groups.largest()), inter = some_radices(groups.groups());
      const AlgorithmOptions options = among(group_of, intra[random() % intra.size()], inter[random() % inter.size()]);
      ASSERT_NO_FATAL_FAILURE(expect_right(ranks, options, random()));
    }
  }
}

TEST(Tra2, scattered_equal_groups_cost_the_same_as_contiguous_ones) {
  std::vector<int> round_robin;
  for (Rank rank = 0; rank < 24; ++rank) round_robin.push_back(rank % 6);
  const AlgorithmOptions scattered = among(round_robin, 2, 3);
  expect_right(24, scattered, 7);
  for (Rank rank = 0; rank < 24; ++rank) {
    const Traffic traffic = traffic_of(k_tra2.program(alltoall(24), rank, scattered));
    EXPECT_EQ(traffic.messages, rounds_by_proposition_3(4, 2) + rounds_by_proposition_3(6, 3)) << rank;
  }
}

TEST(Tra2, members_of_a_large_group_share_the_work_of_sending_to_small_ones) {
  std::vector<int> group_of;  // 8 ranks on one node, 8 alone
  for (Rank rank = 0; rank < 16; ++rank) group_of.push_back(rank < 8 ? 0 : rank);
  const AlgorithmOptions options = among(group_of, 8, 9);
  expect_right(16, options, 8);
  for (Rank rank = 0; rank < 8; ++rank) {
    const Traffic away = traffic_of(k_tra2.program(alltoall(16), rank, options), [](Rank peer) { return peer >= 8; });
    EXPECT_EQ(away.messages, 1) << rank;
    EXPECT_EQ(away.chunks, 8) << rank;
  }
}

TEST(Tra2, numbers_groups_alike_whatever_they_are_called) {
  const AlgorithmOptions some{.groups = grouped({5, 5, -3, -3, 9})}, same{.groups = grouped({0, 0, 1, 1, 2})};
  for (Rank rank = 0; rank < 5; ++rank) {
    EXPECT_EQ(k_tra2.program(alltoall(5), rank, some), k_tra2.program(alltoall(5), rank, same)) << rank;
  }
}

TEST(Tra2, default_groups_divide_the_ranks) {
  EXPECT_EQ(k_tra2.describe(alltoall(24), {}), "group=4 intra_radix=2 inter_radix=3");
  EXPECT_EQ(k_tra2.describe(alltoall(17), {}), "group=1 intra_radix=2 inter_radix=5");
  EXPECT_EQ(k_tra2.describe(alltoall(3), {.groups = grouped({1, 1, 2})}),
            "groups=2 up-to=2 intra_radix=2 inter_radix=2");
}

}  // namespace
}  // namespace colltopo
