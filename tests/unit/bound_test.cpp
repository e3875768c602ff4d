// What a plan needs when it is bound: memory by liveness, parts of long messages, and that one bound serves many runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <thread>

#include "colltopo/algorithms.h"
#include "colltopo/arena.h"
#include "colltopo/execution.h"
#include "colltopo/loopback.h"

namespace colltopo {
namespace {

using testing::Le;

std::shared_ptr<const Program> program_of(std::string_view algorithm, Shape shape, Rank rank) {
  const Algorithm& row = *algorithm_named(algorithm);
  shape.chunks = row.chunks(shape, {});
  return std::make_shared<const Program>(row.program(shape, rank, {}));
}

constexpr std::size_t k_rounding = 4096;  // bytes, of alignment

TEST(Bound, a_large_allreduce_along_a_ring_holds_two_chunks) {
  constexpr std::size_t k_bytes = std::size_t{256} << 20;
  for (const Rank rank : {0, 7, 15}) {
    Plans plans(program_of("ring", {Collective::allreduce, 16, 1, 0}, rank), false, true);
    const auto bound = plans.bind({.count = k_bytes / 8, .element_size = 8});
    EXPECT_LE(bound->arena_bytes(), 2 * k_bytes / 16 + k_rounding);
  }
}

TEST(Bound, a_small_call_keeps_every_slot_in_its_place) {
  Plans plans(program_of("ring", {Collective::allreduce, 16, 1, 0}, 3), false, true);
  EXPECT_FALSE(plans.bind({.count = 1024, .element_size = 8})->plan().options().compact);
  EXPECT_TRUE(plans.bind({.count = 1 << 20, .element_size = 8})->plan().options().compact);
  Plans unordered(program_of("ring", {Collective::allreduce, 16, 1, 0}, 3), false, false);
  EXPECT_FALSE(unordered.bind({.count = 1 << 20, .element_size = 8})->plan().options().compact);
}

TEST(Bound, messages_that_are_gathered_hold_parts_of_them) {
  Plans plans(program_of("swing", {Collective::allgather, 256, 1, 0}, 5), false, true);
  const auto bound = plans.bind({.count = 65536, .element_size = 1});
  EXPECT_LE(bound->arena_bytes(),
            2 * 2 * 2 * k_parts_under_way * k_part + k_rounding);  // two ports, both ways, two stages
}

/// The most scratch that is alive in a step: from the step that writes a value to the last one that reads it.
std::size_t most_alive(const Program& program) {
  std::map<Chunk, std::pair<Step, Step>> current;  // [slot] steps of its value
  std::map<Step, std::ptrdiff_t> change;
  const auto end = [&](const std::pair<Step, Step>& value) {
    ++change[value.first];
    --change[value.second + 1];
  };
  for (std::size_t i = 0; i < program.size(); ++i) {
    const Op op = program.op(i);
    const auto touch = [&](std::span<const Run> runs, bool makes) {
      for (const Run& run : runs) {
        for (Chunk slot = run.first; run.buffer == Buffer::scratch && slot < run.first + run.count; ++slot) {
          const auto found = current.find(slot);
          if (found != current.end() && !makes) {
            found->second.second = op.step;
            continue;
          }
          if (found != current.end()) end(found->second);
          current[slot] = {op.step, op.step};
        }
      }
    };
    touch(op.source, false);
    touch(op.target, op.action != Action::reduce);
  }
  for (const auto& [slot, value] : current) end(value);
  std::ptrdiff_t alive = 0, most = 0;
  for (const auto& [step, by] : change) most = std::max(most, alive += by);
  return static_cast<std::size_t>(most);
}

TEST(Bound, a_large_all_to_all_by_rounds_holds_what_is_under_way) {
  constexpr std::size_t k_block = std::size_t{16} << 20;
  for (const Rank ranks : {16, 27}) {
    const auto program = program_of("tra", {Collective::alltoall, ranks, 1, 0}, 3);
    Plans plans(program, false, true);
    const auto bound = plans.bind({.count = k_block, .element_size = 1});
    const std::size_t staging = 2 * 2 * k_parts_under_way * k_part;
    EXPECT_GE(bound->arena_bytes(), most_alive(*program) * k_block);
    // Values of unlike lengths do not always fit into each other's places.
    EXPECT_LE(bound->arena_bytes(), most_alive(*program) * k_block * 5 / 4 + staging + k_rounding) << ranks;
    EXPECT_LT(most_alive(*program), static_cast<std::size_t>(ranks));
  }
}

// Executions of an all-to-all of `words` words per block on P ranks, over wires of its own as an operation has a tag of
// its own.
class RunOnAllRanks {
 public:
  RunOnAllRanks(const std::vector<std::shared_ptr<const Bound>>& bounds, std::uint64_t seed, std::size_t words = 1)
      : bounds_(bounds),
        wires_(static_cast<Rank>(bounds.size()), seed, Protocol::rendezvous),
        random_(seed),
        words_(words) {
    for (std::size_t r = 0; r < bounds.size(); ++r) {
      input_.emplace_back(bounds.size() * words);
      for (std::size_t i = 0; i < input_[r].size(); ++i) input_[r][i] = seed * 1000000000 + r * 1000000 + i;
      output_.emplace_back(input_[r].size(), 0);
      arenas_.emplace_back(bounds[r]->arena_bytes());
      executions_.push_back(std::make_unique<Execution>());
      executions_[r]->prepare(*bounds[r]);
      executions_[r]->start(
          *bounds[r], wires_.endpoint(static_cast<Rank>(r)), arenas_[r].data(),
          {reinterpret_cast<const std::byte*>(input_[r].data()), reinterpret_cast<std::byte*>(output_[r].data())});
    }
  }
  /// A rank moves on and a message arrives; true when all are done.
  bool turn() {
    const std::size_t r = random_() % executions_.size();
    executions_[r]->progress();
    wires_.step();
    bool done = true;
    for (const auto& execution : executions_) done = execution->progress() && done;
    return done;
  }
  void expect_right() const {
    for (std::size_t r = 0; r < output_.size(); ++r)
      for (std::size_t i = 0; i < output_[r].size(); ++i)
        ASSERT_EQ(output_[r][i], input_[i / words_][r * words_ + i % words_]) << "rank " << r << ", word " << i;
  }

 private:
  const std::vector<std::shared_ptr<const Bound>>& bounds_;
  Loopback wires_;
  std::mt19937_64 random_;
  std::size_t words_;
  std::vector<std::vector<std::uint64_t>> input_, output_;
  std::vector<std::vector<std::byte>> arenas_;
  std::vector<std::unique_ptr<Execution>> executions_;
};

std::vector<std::shared_ptr<const Bound>> bounds_of(std::string_view algorithm, Rank ranks) {
  std::vector<std::shared_ptr<const Bound>> bounds;
  for (Rank rank = 0; rank < ranks; ++rank)
    bounds.push_back(Plans(program_of(algorithm, {Collective::alltoall, ranks, 1, 0}, rank), false, true)
                         .bind({.count = 1, .element_size = 8}));
  return bounds;
}

// Sizes of one shape differ in a factor only. Large ones reuse scratch and go in parts.
TEST(Execution, sizes_of_one_plan_share_its_frame_and_are_right_in_any_order) {
  for (const char* algorithm : {"tra", "tra2", "linear"}) {
    constexpr Rank k_ranks = 6;
    std::vector<Plans> plans;
    for (Rank rank = 0; rank < k_ranks; ++rank)
      plans.emplace_back(program_of(algorithm, {Collective::alltoall, k_ranks, 1, 0}, rank), false, true);
    std::size_t held = 0;
    for (const std::size_t words : {1u, 5u, 0u, 8u, 129u, 40000u, 3u, 70000u, 41000u, 64u}) {
      std::vector<std::shared_ptr<const Bound>> bounds;
      for (Plans& one : plans) bounds.push_back(one.bind({.count = words, .element_size = 8}));
      EXPECT_EQ(bounds[0]->bytes_sent() % 8, 0u);
      EXPECT_EQ(bounds[0]->messages() == 0, words == 0);
      RunOnAllRanks run(bounds, words + 1, words);
      for (int turns = 0; !run.turn(); ++turns) ASSERT_LT(turns, 1000000) << algorithm << " " << words;
      run.expect_right();
      if (words == 1) held = plans[0].memory_bytes();
      if (words < 1000) {
        EXPECT_LE(bounds[0]->memory_bytes(), 8192u) << "what sizes share is the plans'";
      }
    }
    EXPECT_LT(plans[0].memory_bytes(), 4 * held + 16384) << "a frame for the compact plan, not one per size";
  }
}

TEST(Execution, many_runs_of_one_bound_are_under_way_at_a_time_and_end_in_any_order) {
  for (const char* algorithm : {"tra", "linear", "pairwise"}) {
    const auto bounds = bounds_of(algorithm, 7);
    std::vector<std::unique_ptr<RunOnAllRanks>> runs;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) runs.push_back(std::make_unique<RunOnAllRanks>(bounds, seed));
    std::mt19937_64 random(5);
    std::size_t turns = 0;
    for (std::vector<RunOnAllRanks*> left =
             [&] {
               std::vector<RunOnAllRanks*> all;
               for (auto& run : runs) all.push_back(run.get());
               return all;
             }();
         !left.empty(); ++turns) {
      ASSERT_LT(turns, 1000000u) << algorithm;
      const auto at = left.begin() + static_cast<std::ptrdiff_t>(random() % left.size());
      if ((*at)->turn()) left.erase(at);
    }
    for (const auto& run : runs) run->expect_right();
  }
}

TEST(Execution, runs_of_one_bound_on_several_threads_do_not_disturb_each_other) {
  const auto bounds = bounds_of("tra", 6);
  std::vector<std::thread> threads;
  for (std::uint64_t thread = 1; thread <= 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (std::uint64_t call = 0; call < 10; ++call) {
        RunOnAllRanks run(bounds, 100 * thread + call);
        int turns = 0;
        while (!run.turn() && ++turns < 100000) {
        }
        run.expect_right();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Arena, memory_is_leased_again_and_given_back_above_a_limit) {
  Arena arena;
  Arena::Block small = arena.lease(1000), other = arena.lease(1000);
  EXPECT_NE(small.data(), other.data());
  const std::byte* const first = small.data();
  arena.give_back(std::move(small));
  EXPECT_EQ(arena.idle_bytes(), 1000u);
  Arena::Block again = arena.lease(500);
  EXPECT_EQ(again.data(), first);
  EXPECT_EQ(arena.idle_bytes(), 0u);
  arena.give_back(arena.lease(Arena::k_most_idle_bytes + 1));
  EXPECT_EQ(arena.idle_bytes(), 0u);
  for (int i = 0; i < 10; ++i) {
    Arena::Block one = arena.lease(Arena::k_most_idle_bytes / 2), two = arena.lease(Arena::k_most_idle_bytes);
    arena.give_back(std::move(one));
    arena.give_back(std::move(two));
    EXPECT_THAT(arena.idle_bytes(), Le(Arena::k_most_idle_bytes));
  }
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(arena.lease(1).data()) % Arena::k_alignment, 0u);
}

}  // namespace
}  // namespace colltopo
