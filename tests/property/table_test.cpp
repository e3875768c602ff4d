// The algorithm table: what it says when it refuses, and that every row is usable.

#include <map>
#include <set>
#include <utility>

#include "colltopo/algorithms.h"
#include "colltopo/error.h"
#include "colltopo/segments.h"
#include "programs.h"
#include "schedules.h"

namespace colltopo {
namespace {

std::string refusal(std::string_view algorithm, const Shape& shape, const AlgorithmOptions& options = {}) {
  return algorithm_named(algorithm)->refusal(shape, options);
}

Shape alltoall(Rank ranks) { return {Collective::alltoall, ranks, 1, 0}; }

TEST(Table, names_are_different_and_found) {
  std::set<std::string_view> names;
  for (const Algorithm& algorithm : algorithms()) {
    EXPECT_TRUE(names.insert(algorithm.name).second) << algorithm.name << " twice";
    EXPECT_EQ(algorithm_named(algorithm.name), &algorithm);
    EXPECT_FALSE(algorithm.about.empty()) << algorithm.name;
    EXPECT_FALSE(algorithm.collectives.empty()) << algorithm.name;
  }
  EXPECT_EQ(algorithm_named("no-such"), nullptr);
  EXPECT_EQ(algorithm_named(""), nullptr);
}

TEST(Table, refusals_name_the_value_and_what_is_allowed) {
  const auto with = [](const char* name, int value) { return AlgorithmOptions{.values = {{name, value}}}; };
  EXPECT_EQ(refusal("tra", alltoall(8), with("radix", 1)), "radix 1 is not in 2..16777216");
  EXPECT_EQ(refusal("tra", alltoall(8), with("radix", -4)), "radix -4 is not in 2..16777216");
  EXPECT_EQ(refusal("tra2", alltoall(8), with("group", -2)), "group -2 is not in 1..16777216");
  EXPECT_EQ(refusal("tra2", alltoall(8), with("inter-radix", 0)), "inter-radix 0 is not in 2..16777216");
  EXPECT_EQ(refusal("tra2", alltoall(8), {.groups = grouped({0, 0, 1})}), "groups are given for 3 ranks, not for 8");
  EXPECT_EQ(refusal("swing", {Collective::allgather, 8, 1, 0}, with("multiport", 2)), "multiport 2 is not in 0..1");
  EXPECT_EQ(refusal("linear", alltoall(8), with("radix", 1)), "") << "what a row does not know does not concern it";
  EXPECT_EQ(refusal("recursive-doubling", {Collective::allgather, 6, 1, 0}),
            "allgather on 6 ranks: recursive-doubling needs a power of two (bruck serves any number)");
  EXPECT_EQ(refusal("recursive-doubling", {Collective::allreduce, 6, 1, 0}), "");
  EXPECT_EQ(refusal("ring", alltoall(4)),
            "alltoall is not what ring does; it does: allgather reduce_scatter allreduce");
  EXPECT_EQ(refusal("binomial", {Collective::bcast, 4, 1, 4}), "root 4 is not in 0..3");
  EXPECT_EQ(refusal("tra", alltoall(0)), "0 ranks: must be at least 1");
}

// So that one setting serves all communicators of a job.
TEST(Table, values_that_do_not_fit_are_fitted) {
  const auto described = [](std::string_view algorithm, const Shape& shape, const AlgorithmOptions& options) {
    EXPECT_EQ(refusal(algorithm, shape, options), "") << algorithm;
    return algorithm_named(algorithm)->describe(shape, options);
  };
  EXPECT_EQ(described("tra", alltoall(8), {.values = {{"radix", 9}}}), "radix=8");
  EXPECT_EQ(described("tra", alltoall(1), {.values = {{"radix", 3}}}), "radix=2");
  EXPECT_EQ(described("bruck", {Collective::allgather, 5, 1, 0}, {.values = {{"radix", 6}}}), "radix=5");
  EXPECT_EQ(described("tra2", alltoall(8), {.values = {{"group", 4}, {"intra-radix", 9}, {"inter-radix", 3}}}),
            "group=4 intra_radix=4 inter_radix=2");
  EXPECT_EQ(described("tra2", alltoall(7), {.values = {{"group", 3}}}), "groups=3 up-to=3 intra_radix=2 inter_radix=2");
  EXPECT_EQ(described("tra2", alltoall(4), {.values = {{"group", 16}}}), "group=4 intra_radix=2 inter_radix=2");
}

TEST(Table, every_variant_has_what_is_given_and_is_right) {
  for (const Algorithm& algorithm : algorithms()) {
    for (const Collective collective : algorithm.collectives) {
      const Shape shape{collective, 12, 1, 0};
      AlgorithmOptions given{.groups = grouped({0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2}), .dimensions = {4, 3}};
      if (!algorithm.refusal(shape, given).empty()) continue;
      for (const bool fixed : {false, true}) {
        if (fixed) {
          if (algorithm.options.empty()) continue;
          given.values.set(algorithm.options.front().name, algorithm.options.front().least);
        }
        const std::vector<AlgorithmOptions> variants = algorithm.variants(shape, given);
        ASSERT_FALSE(variants.empty()) << algorithm.name;
        for (const AlgorithmOptions& variant : variants) {
          if (fixed) {
            EXPECT_EQ(variant.values.find(algorithm.options.front().name), algorithm.options.front().least);
          }
          EXPECT_THAT(generate(algorithm, shape, variant), Verifies());
        }
      }
    }
  }
}

// [rank][step that has any] direction and peer: shards. Between two ranks pieces of a message are the message.
using Messages = std::vector<std::vector<std::map<std::pair<Action, Rank>, double>>>;
Messages messages_of(const Algorithm& algorithm, Shape shape, const AlgorithmOptions& options) {
  shape.chunks = algorithm.chunks(shape, options);
  Messages all(static_cast<std::size_t>(shape.ranks));
  for (Rank rank = 0; rank < shape.ranks; ++rank) {
    const Program program = algorithm.program(shape, rank, options);
    auto& mine = all[static_cast<std::size_t>(rank)];
    Step step = -1;
    for (std::size_t i = 0; i < program.size(); ++i) {
      const Op op = program.op(i);
      if (!is_message(op.action)) continue;
      if (mine.empty() || (op.step != step && shape.ranks > 2)) mine.emplace_back();
      step = op.step;
      const Chunk chunks = chunks_in(op.action == Action::recv ? op.target : op.source);
      mine.back()[{op.action, op.peer}] += static_cast<double>(chunks) / shape.chunks;
    }
  }
  return all;
}

std::vector<AlgorithmOptions> variants_of(const Algorithm& algorithm, const Shape& shape,
                                          const AlgorithmOptions& given) {
  return algorithm.variants ? algorithm.variants(shape, given) : std::vector{given};
}

// But for two-level backwards on a power of two, which has other peers than recursive halving.
TEST(Table, a_row_that_repeats_has_the_messages_of_another_one) {
  int repeated = 0;
  for (Rank ranks = 2; ranks <= 9; ++ranks) {
    AlgorithmOptions given;
    given.groups = grouped(std::vector<int>(static_cast<std::size_t>(ranks), 0));
    for (const Algorithm& algorithm : algorithms()) {
      for (const Collective collective : algorithm.collectives) {
        const Shape shape{collective, ranks, 1, rooted(collective) ? ranks - 1 : 0};
        const auto repeats = [&](const Algorithm& row) { return row.repeats && row.repeats(shape, given); };
        if (!algorithm.refusal(shape, given).empty() || !repeats(algorithm)) continue;
        if (algorithm.name == "two-level" && reduces(collective)) continue;
        for (const AlgorithmOptions& options : variants_of(algorithm, shape, given)) {
          const auto messages = messages_of(algorithm, shape, options);
          const bool is_found = std::ranges::any_of(algorithms(), [&](const Algorithm& other) {
            if (!other.refusal(shape, given).empty() || repeats(other)) return false;
            return std::ranges::any_of(variants_of(other, shape, given), [&](const AlgorithmOptions& others) {
              return messages_of(other, shape, others) == messages;
            });
          });
          EXPECT_TRUE(is_found) << algorithm.name << " " << name(collective) << " of " << ranks;
          ++repeated;
        }
      }
    }
  }
  EXPECT_GT(repeated, 50);
}

TEST(Table, steps_are_those_of_the_schedule) {
  for (const Algorithm& algorithm : algorithms()) {
    for (const Collective collective : algorithm.collectives) {
      for (const Rank ranks : {1, 2, 3, 7, 8, 12, 17}) {
        std::vector<AlgorithmOptions> all = {{},
                                             {.groups = grouped(std::vector<int>(static_cast<std::size_t>(ranks), 0))}};
        if (ranks == 12) all.push_back({.groups = grouped({0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2}), .dimensions = {4, 3}});
        for (const AlgorithmOptions& given : all) {
          const Shape shape{collective, ranks, 1, rooted(collective) ? ranks / 2 : 0};
          if (!algorithm.refusal(shape, given).empty()) continue;
          for (const AlgorithmOptions& options : algorithm.variants(shape, given)) {
            Step last = 0;
            for (const Program& program : generate(algorithm, shape, options).programs)
              last = std::max(last, program.last_step());
            const Step steps = algorithm.steps(shape, options);  // of a collective from one root at most
            EXPECT_TRUE(steps == last || (rooted(collective) && steps > last))
                << steps << " steps, not " << last << ": " << algorithm.name << " "
                << algorithm.describe(shape, options) << " " << name(collective) << " on " << ranks;
          }
        }
      }
    }
  }
}

TEST(Table, every_row_refuses_what_it_does_not_do) {
  for (const Algorithm& algorithm : algorithms()) {
    for (int c = 0; c < k_collectives; ++c) {
      const auto collective = static_cast<Collective>(c);
      if (serves(algorithm, collective)) continue;
      EXPECT_FALSE(algorithm.refusal({collective, 4, 1, 0}, {}).empty()) << algorithm.name << " " << name(collective);
    }
  }
}

TEST(Table, generate_throws_the_refusal) {
  try {
    generate(*algorithm_named("tra"), alltoall(8), {.values = {{"radix", 1}}});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "radix 1 is not in 2..16777216");
  }
}

TEST(Table, generate_names_the_schedule_by_its_options) {
  EXPECT_EQ(generate(*algorithm_named("tra"), alltoall(9), {}).name, "tra radix=3");
  EXPECT_EQ(generate(*algorithm_named("linear"), alltoall(3), {}).name, "linear");
  const Schedule schedule = generate(*algorithm_named("scatter-allgather"), {Collective::bcast, 5, 1, 2}, {});
  EXPECT_EQ(schedule.shape.chunks, 5);
  EXPECT_EQ(schedule.shape.root, 2);
}

TEST(Table, one_ranks_program_is_that_of_the_whole_schedule) {
  for (const Algorithm& algorithm : algorithms()) {
    for (const Collective collective : algorithm.collectives) {
      Shape shape{collective, 12, 1, 0};
      if (!algorithm.refusal(shape, {}).empty()) shape.ranks = 8;
      ASSERT_EQ(algorithm.refusal(shape, {}), "") << algorithm.name << " " << name(collective);
      const Schedule schedule = generate(algorithm, shape, {});
      EXPECT_EQ(schedule.programs[5], algorithm.program(schedule.shape, 5, {})) << algorithm.name;
      EXPECT_THAT(schedule, Verifies());
    }
  }
}

TEST(Table, steps_never_decrease_in_a_program) {  // as SegmentOrder::slot_by_slot needs
  for (const Algorithm& algorithm : algorithms())
    for (const Collective collective : algorithm.collectives)
      for (const Rank ranks : {3, 4, 8, 12}) {
        const Shape shape{collective, ranks, 1, 0};
        if (!algorithm.refusal(shape, {}).empty()) continue;
        EXPECT_TRUE(step_pattern(generate(algorithm, shape, {})).in_order)
            << algorithm.name << " " << name(collective) << " " << ranks;
      }
}

}  // namespace
}  // namespace colltopo
