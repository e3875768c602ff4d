// The baselines: proved and run for every size and root, with the steps and data that they are known for.

#include <algorithm>
#include <map>
#include <tuple>

#include "algorithms/ring.h"
#include "colltopo/algorithms.h"
#include "programs.h"
#include "schedules.h"

namespace colltopo {
namespace {

Step log2_up(Rank ranks) { return digits(ranks, 2); }

std::vector<Rank> roots_for(Collective collective, Rank ranks) {
  if (!rooted(collective)) return {0};
  std::vector<Rank> roots;
  for (Rank root = 0; root < ranks; root += ranks <= 9 ? 1 : ranks / 3) roots.push_back(root);
  return roots;
}

AlgorithmOptions with_radix(int radix) {  // 0: without
  AlgorithmOptions options;
  if (radix != 0) options.values.set("radix", radix);
  return options;
}

class Baselines : public ::testing::TestWithParam<std::string_view> {};

TEST_P(Baselines, are_right_for_every_size_root_and_radix) {
  const Algorithm& algorithm = *algorithm_named(GetParam());
  for (const Collective collective : algorithm.collectives) {
    for (const Rank ranks : k_sizes) {
      for (const Rank root : roots_for(collective, ranks)) {
        for (const int radix : option_named(algorithm, "radix") ? radices_for(ranks) : std::vector<int>{0}) {
          const Shape shape{collective, ranks, 1, root};
          const AlgorithmOptions options = with_radix(radix);
          if (!algorithm.refusal(shape, options).empty()) continue;
          // Whole vectors of everybody to everybody: what larger ones would add is time.
          if (collective == Collective::allreduce && ranks > 17 && radix > 17) continue;
          const Schedule schedule = generate(algorithm, shape, options);
          ASSERT_THAT(schedule, Verifies());
          ASSERT_TRUE(runs_right_every_way(schedule, static_cast<std::uint64_t>(ranks * 10 + root)))
              << name(collective) << " on " << ranks << " root " << root;
        }
      }
    }
  }
}

TEST_P(Baselines, have_the_properties_that_the_table_states) {
  const Algorithm& algorithm = *algorithm_named(GetParam());
  for (const Collective collective : algorithm.collectives) {
    for (const Rank ranks : k_sizes) {
      const Shape shape{collective, ranks, 1, 0};
      if (!algorithm.refusal(shape, {}).empty()) continue;
      const Schedule schedule = generate(algorithm, shape, {});
      const Verdict verdict = verify(schedule);
      const Properties stated = algorithm.properties(schedule.shape, {});
      ASSERT_TRUE(verdict.stepped) << schedule.name << " " << name(collective) << " on " << ranks;
      if (ranks >= 3) {
        ASSERT_EQ(stated.in_place, verdict.in_place) << schedule.name << " " << name(collective) << " on " << ranks;
        ASSERT_EQ(stated.keeps_rank_order, verdict.keeps_rank_order) << name(collective) << " on " << ranks;
      } else {  // so few ranks may do better, never worse
        ASSERT_LE(stated.in_place, verdict.in_place) << schedule.name << " " << name(collective) << " on " << ranks;
        ASSERT_LE(stated.keeps_rank_order, verdict.keeps_rank_order) << name(collective) << " on " << ranks;
      }
      ASSERT_EQ(stated.same_on_all_ranks, verdict.same_on_all_ranks) << name(collective) << " on " << ranks;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Baselines,
                         ::testing::Values("linear", "pairwise", "bruck", "ring", "recursive-doubling",
                                           "recursive-multiplying", "recursive-halving", "binomial", "knomial",
                                           "scatter-allgather", "chain", "two-level"),
                         [](const auto& instance) {
                           std::string test_name(instance.param);
                           std::replace(test_name.begin(), test_name.end(), '-', '_');
                           return test_name;
                         });

// Steps of the schedule and chunks that the busiest rank sends.
std::pair<Step, Chunk> cost(std::string_view algorithm, Collective collective, Rank ranks, Rank root = 0,
                            int radix = 0) {
  const Schedule schedule = generate(*algorithm_named(algorithm), {collective, ranks, 1, root}, with_radix(radix));
  Chunk most = 0;
  for (const Program& program : schedule.programs) most = std::max(most, traffic_of(program).chunks);
  return {schedule.steps(), most};
}

TEST(BaselineCosts, are_those_of_the_literature) {
  for (const Rank ranks : k_sizes) {
    if (ranks == 1) continue;
    const Step log2 = log2_up(ranks);
    const Chunk others = ranks - 1;
    using Pair = std::pair<Step, Chunk>;
    EXPECT_EQ(cost("linear", Collective::alltoall, ranks), Pair(1, others));
    EXPECT_EQ(cost("pairwise", Collective::alltoall, ranks), Pair(others, others));
    EXPECT_EQ(cost("bruck", Collective::allgather, ranks), Pair(log2, others));
    EXPECT_EQ(cost("ring", Collective::allgather, ranks), Pair(others, others));
    EXPECT_EQ(cost("ring", Collective::reduce_scatter, ranks), Pair(others, others));
    EXPECT_EQ(cost("ring", Collective::allreduce, ranks), Pair(2 * others, 2 * others));
    // Any number of ranks: as few steps and as little data as on a power of two.
    EXPECT_EQ(cost("recursive-halving", Collective::reduce_scatter, ranks), Pair(log2, others));
    EXPECT_EQ(cost("recursive-halving", Collective::allreduce, ranks), Pair(2 * log2, 2 * others));
    EXPECT_EQ(cost("binomial", Collective::bcast, ranks, ranks / 2), Pair(log2, log2));
    EXPECT_EQ(cost("binomial", Collective::reduce, ranks, ranks / 2), Pair(log2, 1));
    EXPECT_EQ(cost("binomial", Collective::scatter, ranks, ranks / 2), Pair(log2, others));
    EXPECT_EQ(cost("linear", Collective::allgather, ranks), Pair(1, others));
    EXPECT_EQ(cost("linear", Collective::reduce_scatter, ranks), Pair(1, others));
    EXPECT_EQ(cost("linear", Collective::bcast, ranks, ranks / 2), Pair(1, others));
    EXPECT_EQ(cost("linear", Collective::reduce, ranks, ranks / 2), Pair(1, 1));
    EXPECT_EQ(cost("linear", Collective::scatter, ranks, ranks / 2), Pair(ranks > 1 ? 1 : 0, others));
    EXPECT_EQ(cost("linear", Collective::gather, ranks, ranks / 2), Pair(ranks > 1 ? 1 : 0, ranks > 1 ? 1 : 0));
    EXPECT_EQ(cost("scatter-allgather", Collective::bcast, ranks, ranks / 2).first, log2 + others);
    EXPECT_EQ(cost("chain", Collective::bcast, ranks, ranks / 2), Pair(others + 15, 16));
    const bool is_power = (ranks & (ranks - 1)) == 0;
    const Step steps = is_power ? log2 : log2_up(ranks) + 1;  // below a power of two: fold, log2_down, unfold
    EXPECT_EQ(cost("recursive-doubling", Collective::allreduce, ranks).first, steps) << ranks;
    if (is_power) {
      EXPECT_EQ(cost("recursive-doubling", Collective::allgather, ranks), Pair(log2, others));
    }
  }
}

TEST(BaselineCosts, bruck_takes_fewer_steps_of_more_messages_with_a_larger_radix) {
  for (const Rank ranks : k_sizes) {
    for (const int radix : radices_for(ranks)) {
      const auto [steps, chunks] = cost("bruck", Collective::allgather, ranks, 0, radix);
      EXPECT_EQ(steps, digits(ranks, radix)) << ranks << " " << radix;
      EXPECT_EQ(chunks, ranks - 1) << ranks << " " << radix;
      const Program program =
          algorithm_named("bruck")->program({Collective::allgather, ranks, 1}, 0, with_radix(radix));
      EXPECT_EQ(traffic_of(program).messages, rounds_by_proposition_3(ranks, radix)) << ranks << " " << radix;
    }
  }
}

TEST(BaselineCosts, larger_radices_take_fewer_steps_of_more_messages) {
  for (const Rank ranks : k_sizes) {
    if (ranks == 1) continue;
    for (const int radix : radices_for(ranks)) {
      const Step levels = digits(ranks, radix);
      const auto [steps, chunks] = cost("knomial", Collective::bcast, ranks, ranks / 2, radix);
      EXPECT_EQ(steps, levels) << ranks << " " << radix;
      EXPECT_LE(chunks, levels * (radix - 1)) << ranks << " " << radix << ": what the root sends";
      EXPECT_GE(chunks, std::min(radix, ranks) - 1) << ranks << " " << radix;
      EXPECT_EQ(cost("knomial", Collective::reduce, ranks, ranks / 2, radix).second, 1)
          << "every other rank sends once";
      EXPECT_EQ(cost("knomial", Collective::scatter, ranks, ranks / 2, radix).second, ranks - 1);
      EXPECT_LE(cost("recursive-multiplying", Collective::allreduce, ranks, 0, radix).first, levels + 2)
          << ranks << " " << radix << ": folded at most";
    }
    EXPECT_EQ(cost("knomial", Collective::bcast, ranks, 0, ranks), std::pair(1, ranks - 1));
    EXPECT_EQ(cost("recursive-multiplying", Collective::allreduce, ranks, 0, std::max(2, ranks)),
              std::pair(1, (ranks - 1) * ranks));
  }
  EXPECT_EQ(cost("recursive-multiplying", Collective::allreduce, 16, 0, 4), std::pair(2, 2 * 3 * 16));
  EXPECT_EQ(cost("recursive-multiplying", Collective::allreduce, 12, 0, 4), std::pair(2, (3 + 2) * 12));
  EXPECT_EQ(cost("recursive-multiplying", Collective::allreduce, 18, 0, 3), std::pair(3, (2 + 2 + 1) * 18));
  EXPECT_EQ(cost("recursive-multiplying", Collective::allreduce, 24, 0, 4), std::pair(3, (3 + 2 + 1) * 24));
  EXPECT_EQ(cost("recursive-multiplying", Collective::allreduce, 17, 0, 4).first, 4) << "16 act, one is folded";
}

TEST(Ring, serves_any_order_of_ranks) {
  const std::vector<Rank> order = {3, 0, 6, 1, 5, 2, 4};
  for (const Chunk chunks : {1, 3}) {
    const Shape shape{Collective::allgather, 7, chunks, 0};
    const Schedule schedule =
        schedule_of("ring by order", shape, [&](Rank rank) { return ring_allgather(shape, rank, order); });
    EXPECT_THAT(schedule, Verifies());
    EXPECT_TRUE(runs_right_every_way(schedule));
    for (std::size_t place = 0; place < order.size(); ++place) {
      const Program& program = schedule.programs[static_cast<std::size_t>(order[place])];
      const Traffic to_next = traffic_of(program, [&](Rank peer) { return peer == order[(place + 1) % order.size()]; });
      EXPECT_EQ(to_next.messages, 6) << "rank " << order[place] << " sends to its successor alone";
      EXPECT_EQ(traffic_of(program).messages, 6);
    }
  }
}

}  // namespace
}  // namespace colltopo
