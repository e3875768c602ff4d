// All-to-all of blocks of any size by way of other ranks, with little memory and with much: values, no deadlock where a
// send waits for its receive, and how much memory it takes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "colltopo/aggregation.h"
#include "colltopo/algorithms.h"
#include "colltopo/loopback.h"
#include "colltopo/uneven.h"

namespace colltopo {
namespace {

struct Case {
  std::string algorithm;
  std::vector<std::pair<std::string, int>> options;
  int ranks;
};

void PrintTo(const Case& one, std::ostream* out) {
  *out << one.algorithm << " on " << one.ranks;
  for (const auto& [name, value] : one.options) *out << " " << name << "=" << value;
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const int ranks : {2, 3, 7, 8, 16, 27, 32, 64}) {
    for (const int radix : {2, 3, 4, 8, 64}) all.push_back({"tra", {{"radix", radix}}, ranks});
    if (ranks < 7) continue;
    for (const int group : {2, 4, 5}) {
      all.push_back({"tra2", {{"group", group}, {"intra-radix", 2}, {"inter-radix", 2}}, ranks});
      all.push_back({"tra2", {{"group", group}, {"intra-radix", 5}, {"inter-radix", 3}}, ranks});
      all.push_back({"node-pairs", {{"group", group}}, ranks});
    }
  }
  return all;
}

std::shared_ptr<const AggregationPlan> plan_of(const Case& one, Rank rank, std::size_t limit, std::size_t roomy) {
  AlgorithmOptions options;
  for (const auto& [name, value] : one.options) options.values.set(name, value);
  const Shape shape{Collective::alltoall, one.ranks, 1, 0};
  const Algorithm& algorithm = *algorithm_named(one.algorithm);
  auto plan = std::make_shared<const Plan>(algorithm.program(shape, rank, options));
  return std::make_shared<const AggregationPlan>(std::move(plan), limit, roomy);
}

// What goes from one rank to another: (i * 131 + from * 17 + to * 29) mod 251 at byte i.
std::byte byte_at(Rank from, Rank to, std::size_t i) {
  return static_cast<std::byte>((i * 131 + static_cast<std::size_t>(from * 17 + to * 29)) % 251);
}

/// One rank's buffers: blocks side by side, and an arena with a guard behind it.
struct Member {
  std::vector<std::size_t> in, out, in_at, out_at;
  std::vector<std::byte> input, output, arena;
  std::shared_ptr<const AggregationPlan> plan;
  Aggregation run;
};

constexpr std::byte k_guard{0xA5};
constexpr std::size_t k_guards = 128;

std::vector<std::size_t> places(const std::vector<std::size_t>& bytes) {
  std::vector<std::size_t> at(bytes.size());
  std::exclusive_scan(bytes.begin(), bytes.end(), at.begin(), std::size_t{0});
  return at;
}

testing::AssertionResult runs_right(const Case& one, std::size_t limit, std::size_t roomy, Protocol protocol,
                                    unsigned seed) {
  std::mt19937 random(seed);
  const auto ranks = static_cast<std::size_t>(one.ranks);
  std::vector<std::vector<std::size_t>> bytes(ranks, std::vector<std::size_t>(ranks));
  for (auto& row : bytes)
    for (std::size_t& size : row) size = random() % 4 == 0 ? limit : random() % 4 == 0 ? 0 : random() % (limit + 1);
  Loopback wires(one.ranks, seed, protocol, Lengths::shorter);
  std::vector<Member> members(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    Member& here = members[rank];
    here.in = bytes[rank];
    for (std::size_t from = 0; from < ranks; ++from) here.out.push_back(bytes[from][rank]);
    here.in_at = places(here.in);
    here.out_at = places(here.out);
    for (std::size_t to = 0; to < ranks; ++to)
      for (std::size_t i = 0; i < here.in[to]; ++i)
        here.input.push_back(byte_at(static_cast<Rank>(rank), static_cast<Rank>(to), i));
    here.output.resize(here.out_at.back() + here.out.back() + 1);
    here.plan = plan_of(one, static_cast<Rank>(rank), limit, roomy);
    here.arena.assign(here.plan->arena_bytes() + k_guards, k_guard);
    const UnevenShards shards{true, {here.in, here.in_at}, {here.out, here.out_at}, 0, 0};
    here.run.start(*here.plan, wires.endpoint(static_cast<Rank>(rank)), here.arena.data(), here.input.data(),
                   here.output.data(), shards, 7);
  }
  std::vector<std::size_t> turn(ranks);
  std::iota(turn.begin(), turn.end(), std::size_t{0});
  for (bool moved = true; moved;) {
    std::ranges::shuffle(turn, random);
    bool done = true;
    for (const std::size_t rank : turn) done = members[rank].run.progress() && done;
    if (done) break;
    moved = wires.step();
    if (!moved) return testing::AssertionFailure() << "nothing moves any more";
  }
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const Member& here = members[rank];
    if (here.run.status() != 0) return testing::AssertionFailure() << "rank " << rank << " ended with an error";
    for (std::size_t from = 0; from < ranks; ++from)
      for (std::size_t i = 0; i < here.out[from]; ++i)
        if (here.output[here.out_at[from] + i] != byte_at(static_cast<Rank>(from), static_cast<Rank>(rank), i))
          return testing::AssertionFailure() << "rank " << rank << " byte " << i << " from " << from << " is wrong";
    if (!std::all_of(here.arena.end() - k_guards, here.arena.end(), [](std::byte b) { return b == k_guard; }))
      return testing::AssertionFailure() << "rank " << rank << " wrote behind its arena";
  }
  return testing::AssertionSuccess();
}

TEST(Aggregation, gives_right_values_in_any_order_with_little_memory_and_with_much) {
  unsigned seed = 0;
  for (const Case& one : cases())
    for (const std::size_t limit : {0, 1, 300})
      for (const std::size_t roomy : {0, 1 << 30})
        for (const Protocol protocol : {Protocol::eager, Protocol::rendezvous})
          ASSERT_TRUE(runs_right(one, limit, roomy, protocol, ++seed))
              << testing::PrintToString(one) << " up to " << limit << " roomy " << roomy << " seed " << seed;
}

// In blocks with their lengths, of one rank: memory, and the longest message.
struct Blocks {
  double memory = 0;
  Chunk message = 0;
};
Blocks blocks_of(const Case& one, std::size_t limit) {
  const auto plan = plan_of(one, 0, limit, 0);
  Blocks blocks{static_cast<double>(plan->arena_bytes()) / static_cast<double>(limit + 4), 0};
  for (std::size_t i = 0; i < plan->program().size(); ++i)
    if (const Op op = plan->program().op(i); op.action == Action::send)
      blocks.message = std::max(blocks.message, chunks_in(op.source));
  return blocks;
}

TEST(Aggregation, takes_about_a_block_of_every_rank_and_two_messages) {
  constexpr std::size_t limit = 4096;
  for (const int ranks : {32, 64, 100, 256, 1024}) {
    for (const int radix : {2, 3, 4, 6, 8, 10, 16, 32}) {
      const Blocks blocks = blocks_of({"tra", {{"radix", radix}}, ranks}, limit);
      EXPECT_LE(blocks.memory, ranks + 2 * blocks.message) << ranks << " " << radix;
    }
  }
  EXPECT_LE(blocks_of({"tra", {{"radix", 32}}, 1024}, limit).memory, 1.05 * 1024);
  EXPECT_LE(blocks_of({"tra", {{"radix", 2}}, 1024}, limit).memory, 2 * 1024);
  EXPECT_LE(blocks_of({"tra2", {{"group", 32}, {"intra-radix", 6}, {"inter-radix", 6}}, 1024}, limit).memory,
            1.35 * 1024);
}

TEST(Aggregation, has_room_for_all_messages_where_that_is_little) {
  // Radix 2 on 8 ranks: three rounds of four blocks, sent and received.
  EXPECT_EQ(plan_of({"tra", {{"radix", 2}}, 8}, 0, 60, 1 << 20)->arena_bytes(), 2u * 3 * 4 * 64);
}

}  // namespace
}  // namespace colltopo
