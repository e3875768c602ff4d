// The families of De Sensi et al. 2024 on tori of every kind of side: proved, run on numbers, and what they refuse.

#include <gtest/gtest.h>

#include <algorithm>

#include "algorithms/torus.h"
#include "schedules.h"
#include "swing_tori.h"

namespace colltopo {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Served {
  std::string family;
  Collective collective;
};

void PrintTo(const Served& served, std::ostream* out) { *out << served.family << " " << name(served.collective); }

std::vector<Served> all_served() {
  std::vector<Served> served;
  for (const char* name : {"swing", "swing-latency", "mirrored", "bucket", "hamiltonian"}) {
    for (const Collective collective : family(name).collectives) served.push_back({name, collective});
  }
  return served;
}

class Tori : public ::testing::TestWithParam<Served> {};

TEST_P(Tori, every_collective_is_right_on_every_torus) {
  const auto& [name, collective] = GetParam();
  std::size_t served = 0;
  std::uint64_t seed = 1;
  for (const Sides& sides : all_tori()) {
    if (!refusal_on(name, sides).empty()) continue;
    for (const bool multiport : {true, false}) {
      const Rank root = rooted(collective) ? ranks_of(sides) / 2 : 0;
      const Schedule schedule = on_torus(name, collective, sides, multiport, root);
      SCOPED_TRACE(schedule.name);
      const Verdict verdict = verify(schedule);
      ASSERT_TRUE(verdict.valid()) << to_string(verdict.violations.front());
      EXPECT_TRUE(verdict.stepped);
      const Properties stated = family(name).properties(schedule.shape, options_on(sides, multiport));
      EXPECT_EQ(stated.in_place, verdict.in_place);
      EXPECT_EQ(stated.same_on_all_ranks, verdict.same_on_all_ranks);
      // A rank alone, and two ranks with the second as root, keep the order without being asked to.
      EXPECT_TRUE(stated.keeps_rank_order == verdict.keeps_rank_order || ranks_of(sides) <= 2);
      auto trials = trials_of(schedule, verdict, seed);
      if (ranks_of(sides) > 20) trials.resize(2);
      for (const Trial& trial : trials) ASSERT_TRUE(runs_right(schedule, trial));
      seed += 10;
      ++served;
    }
  }
  EXPECT_GE(served, name == "hamiltonian" ? 80u : 130u);
}

INSTANTIATE_TEST_SUITE_P(Families, Tori, ::testing::ValuesIn(all_served()), [](const auto& param_info) {
  std::string test = param_info.param.family + "_" + std::string(name(param_info.param.collective));
  std::replace(test.begin(), test.end(), '-', '_');
  return test;
});

struct RunsSent {
  std::size_t runs = 0, messages = 0, most_received = 0;
};

RunsSent runs_sent(const Schedule& schedule) {
  RunsSent sent;
  for (const Program& program : schedule.programs) {
    for (std::size_t i = 0; i < program.size(); ++i) {
      const Op op = program.op(i);
      if (op.action == Action::recv) sent.most_received = std::max(sent.most_received, op.target.size());
      if (op.action != Action::send) continue;
      sent.runs += op.source.size();
      ++sent.messages;
    }
  }
  return sent;
}

TEST(Swing, allreduce_sends_contiguous_parts_where_sides_are_powers_of_two) {
  for (const char* name : {"swing", "mirrored", "bucket"}) {
    for (const Sides& sides : std::vector<Sides>{{8}, {16}, {4, 4}, {8, 8}, {2, 2, 2}, {4, 2, 2}, {2, 8}}) {
      for (const bool multiport : {false, true}) {
        const RunsSent sent = runs_sent(on_torus(name, Collective::allreduce, sides, multiport));
        EXPECT_GT(sent.messages, 0u);
        EXPECT_EQ(sent.runs, sent.messages) << name << " on " << to_string(sides) << " multiport " << multiport;
        EXPECT_EQ(sent.most_received, 1u) << name << " on " << to_string(sides) << " multiport " << multiport;
      }
    }
  }
}

// A reduce_scatter and an allgather send the same messages with every rank's block in its fixed place.
TEST(Swing, allreduce_sends_no_more_runs_than_with_blocks_in_rank_order) {
  for (const char* name : {"swing", "mirrored", "bucket"}) {
    for (const Sides& sides : all_tori()) {
      for (const bool multiport : {false, true}) {
        const RunsSent scattered = runs_sent(on_torus(name, Collective::reduce_scatter, sides, multiport));
        const RunsSent gathered = runs_sent(on_torus(name, Collective::allgather, sides, multiport));
        const RunsSent placed = runs_sent(on_torus(name, Collective::allreduce, sides, multiport));
        EXPECT_EQ(placed.messages, scattered.messages + gathered.messages);
        EXPECT_LE(placed.runs, scattered.runs + gathered.runs)
            << name << " on " << to_string(sides) << " multiport " << multiport;
      }
    }
  }
}

TEST(Swing, spreads_from_and_reduces_to_any_root) {
  for (const char* name : {"swing", "mirrored", "bucket", "hamiltonian"}) {
    for (const Sides& sides : std::vector<Sides>{{2}, {5}, {6}, {7}, {8}, {3, 3}, {2, 3}, {4, 2}, {2, 2, 2}}) {
      if (!refusal_on(name, sides).empty()) continue;
      for (Rank root = 0; root < ranks_of(sides); ++root) {
        for (const Collective collective : {Collective::bcast, Collective::reduce}) {
          const Schedule schedule = on_torus(name, collective, sides, true, root);
          EXPECT_THAT(schedule, Verifies()) << "root " << root;
          EXPECT_TRUE(runs_right(schedule, {.count = 7, .seed = 3})) << "root " << root;
        }
      }
    }
  }
}

TEST(Swing, serves_rings_of_any_number_of_ranks) {
  for (Rank p = 21; p <= 130; ++p) EXPECT_THAT(on_torus("swing", Collective::allgather, {p}), Verifies());
}

TEST(Swing, without_dimensions_runs_on_a_ring) {
  Shape shape{Collective::allreduce, 12, 1, 0};
  const Schedule ring = generate(family("swing"), shape, {});
  EXPECT_EQ(ring.programs, on_torus("swing", Collective::allreduce, {12}).programs);
  EXPECT_EQ(ring.shape.chunks, 2);
}

TEST(Swing, ignores_sides_of_one) {
  EXPECT_EQ(on_torus("swing", Collective::allreduce, {1, 6, 1}), [] {
    Schedule ring = on_torus("swing", Collective::allreduce, {6});
    ring.name = "swing dimensions=1x6x1 ports=2";
    return ring;
  }());
}

// Each rank sends all it has to its Swing peer in every step; six ranks, three steps.
Schedule swing_without_fold(Rank ranks) {
  const Shape shape{Collective::allreduce, ranks, 1, 0};
  return schedule_of("swing without fold", shape, [&](Rank rank) {
    ProgramBuilder program(shape, rank);
    program.copy({{Buffer::input, 0, ranks}}, {{Buffer::output, 0, ranks}});
    for (int s = 0; s < log2_ceiling(ranks); ++s) {
      const Run arrived{Buffer::scratch, (s % 2) * ranks, ranks};
      program.step(s + 1).send({{Buffer::output, 0, ranks}}, swing_peer(ranks, rank, s));
      program.recv({arrived}, swing_peer(ranks, rank, s)).reduce({arrived}, {{Buffer::output, 0, ranks}});
    }
    return std::move(program).build();
  });
}

TEST(SwingLatency, without_a_fold_counts_twice_off_powers_of_two) {
  EXPECT_THAT(swing_without_fold(8), Verifies());
  EXPECT_THAT(swing_without_fold(6), Not(Verifies()));
  EXPECT_THAT(on_torus("swing-latency", Collective::allreduce, {6}), Verifies());
}

TEST(SwingLatency, gives_different_bits_from_eight_ranks_on) {
  const Trial bits{.count = 16, .reduction = Reduction::digest};
  EXPECT_TRUE(runs_right(on_torus("swing-latency", Collective::allreduce, {4}), bits));
  EXPECT_TRUE(runs_right(on_torus("swing-latency", Collective::allreduce, {4, 4}), bits));
  EXPECT_FALSE(runs_right(on_torus("swing-latency", Collective::allreduce, {8}), bits));
  EXPECT_TRUE(runs_right(on_torus("swing", Collective::allreduce, {8}), bits));
}

TEST(Refusal, names_the_torus_that_does_not_fit) {
  AlgorithmOptions options = options_on({4, 4});
  for (const char* name : {"swing", "swing-latency", "mirrored", "bucket", "hamiltonian"}) {
    const Shape shape{Collective::allreduce, 12, 1, 0};
    EXPECT_EQ(family(name).refusal(shape, options), "dimensions 4x4 are a torus of 16 ranks, not of 12");
    EXPECT_EQ(family(name).refusal(shape, options_on({12, 0})), "side 0 of dimensions 12x0 is not at least 1");
    EXPECT_THROW(generate(family(name), shape, options), Error);
  }
}

TEST(Refusal, hamiltonian_states_its_condition) {
  for (const Sides& sides : std::vector<Sides>{{4, 6}, {2, 3}, {5, 3}, {6, 3}, {3, 6}, {12, 4}}) {
    EXPECT_THAT(refusal_on("hamiltonian", sides), HasSubstr("gcd(r, c - 1) = 1")) << to_string(sides);
  }
  EXPECT_THAT(refusal_on("hamiltonian", {2, 2, 2}),
              HasSubstr("2x2x2: Hamiltonian cycles that share no link are made on"));
  EXPECT_EQ(refusal_on("hamiltonian", {3, 9}), "");
}

TEST(Scale, one_rank_of_16384_has_a_program_in_proportion) {
  for (const char* name : {"swing", "swing-latency", "mirrored", "bucket", "hamiltonian"}) {
    for (const Sides& sides : std::vector<Sides>{{16384}, {16383}, {128, 128}, {127, 129}, {4, 4, 4, 16, 16}}) {
      if (!refusal_on(name, sides).empty()) continue;
      Shape shape = shape_on(sides, Collective::allreduce);
      shape.chunks = family(name).chunks(shape, options_on(sides));
      const Program program = family(name).program(shape, shape.ranks - 1, options_on(sides));
      std::size_t runs = 0;
      for (std::size_t i = 0; i < program.size(); ++i)
        runs += program.op(i).source.size() + program.op(i).target.size();
      // Every chunk is sent or received, and reduced, a few times at most; nothing grows with ranks times ranks.
      EXPECT_LE(runs, 8u * static_cast<std::size_t>(shape.classes())) << name << " on " << to_string(sides);
      EXPECT_GT(program.size(), 0u);
    }
  }
}

}  // namespace
}  // namespace colltopo
