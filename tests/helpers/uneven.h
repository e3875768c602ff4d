// TestBlocks of any size at any place: what ranks send one another in the tests of MPI's v and w calls, and what must
// have come of it, byte by byte, the gaps between blocks included.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "colltopo/colltopo.h"

namespace colltopo {

/// How sizes are drawn.
enum class Pattern { any, zeros, one_huge, none_on_one_rank, small, nothing };
inline constexpr Pattern k_patterns[] = {Pattern::any,   Pattern::zeros,  Pattern::one_huge, Pattern::none_on_one_rank,
                                         Pattern::small, Pattern::nothing};

/// [from][to] bytes.
using Traffic = std::vector<std::vector<std::size_t>>;

inline Traffic traffic(int ranks, Pattern pattern, unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](std::size_t limit) { return static_cast<std::size_t>(random()) % limit; };
  const auto n = static_cast<std::size_t>(ranks);
  Traffic bytes(n, std::vector<std::size_t>(n));
  const std::size_t lonely = below(n);
  for (std::size_t from = 0; from < n; ++from) {
    for (std::size_t to = 0; to < n; ++to) {
      std::size_t& size = bytes[from][to];
      size = pattern == Pattern::small ? below(20) : below(5000);
      if (pattern == Pattern::zeros && below(2) == 0) size = 0;
      if (pattern == Pattern::none_on_one_rank && (from == lonely || to == lonely)) size = 0;
      if (pattern == Pattern::nothing) size = 0;
    }
  }
  if (pattern == Pattern::one_huge) bytes[lonely][below(n)] = 1300001;  // goes in parts
  return bytes;
}

/// One side of a call: sizes and places of its blocks, in memory that has gaps between them.
struct TestBlocks {
  std::vector<std::size_t> bytes, at;
  std::vector<unsigned char> memory;

  static constexpr unsigned char k_gap = 0xEE;

  /// Placed in a random order, with gaps.
  TestBlocks(std::vector<std::size_t> sizes, std::mt19937& random) : bytes(std::move(sizes)), at(bytes.size()) {
    std::vector<std::size_t> order(bytes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::shuffle(order.begin(), order.end(), random);
    std::size_t end = 0;
    for (const std::size_t block : order) {
      end += random() % 3 == 0 ? random() % 40 : 0;
      at[block] = end;
      end += bytes[block];
    }
    memory.assign(end + 1, k_gap);
  }
  void fill(std::size_t block, int from, int to) {
    for (std::size_t i = 0; i < bytes[block]; ++i) memory[at[block] + i] = value(from, to, i);
  }
  static unsigned char value(int from, int to, std::size_t i) {
    return static_cast<unsigned char>(31 * from + 7 * to + static_cast<int>(i % 251) + static_cast<int>(i / 251));
  }
};

/// A rank's side of an alltoallv.
struct Exchange {
  TestBlocks input, output, expected;

  Exchange(const Traffic& traffic, int rank, std::mt19937& random)
      : input(traffic[static_cast<std::size_t>(rank)], random),
        output(column(traffic, rank), random),
        expected(output) {
    for (std::size_t peer = 0; peer < traffic.size(); ++peer) {
      input.fill(peer, rank, static_cast<int>(peer));
      expected.fill(peer, static_cast<int>(peer), rank);
    }
  }
  int run(colltopo_comm* comm, int (*function)(colltopo_comm*, const colltopo_call*)) {
    const colltopo_blocks blocks = {input.bytes.data(), input.at.data(), output.bytes.data(), output.at.data()};
    colltopo_call call{};
    call.input = input.memory.data();
    call.output = output.memory.data();
    call.blocks = &blocks;
    call.element_size = 1;
    return function(comm, &call);
  }
  bool is_right() const { return output.memory == expected.memory; }

  static std::vector<std::size_t> column(const Traffic& traffic, int rank) {
    std::vector<std::size_t> sizes;
    for (const auto& row : traffic) sizes.push_back(row[static_cast<std::size_t>(rank)]);
    return sizes;
  }
};

/// A rank's side of an allgatherv: rank j contributes traffic[j][0].
struct Gathering {
  TestBlocks output, expected;
  std::vector<unsigned char> input;
  bool in_place;

  Gathering(const Traffic& traffic, int rank, bool in_place_, std::mt19937& random)
      : output(Exchange::column(traffic, 0), random), expected(output), in_place(in_place_) {
    for (std::size_t peer = 0; peer < traffic.size(); ++peer) expected.fill(peer, static_cast<int>(peer), 0);
    const auto own = static_cast<std::size_t>(rank);
    if (in_place) output.fill(own, rank, 0);
    for (std::size_t i = 0; i < output.bytes[own] && !in_place; ++i) input.push_back(TestBlocks::value(rank, 0, i));
  }
  int run(colltopo_comm* comm) {
    const colltopo_blocks blocks = {nullptr, nullptr, output.bytes.data(), output.at.data()};
    colltopo_call call{};
    call.input = in_place ? nullptr : input.data();
    call.output = output.memory.data();
    call.in_place = in_place ? 1 : 0;
    call.blocks = &blocks;
    call.element_size = 1;
    return colltopo_allgatherv(comm, &call);
  }
  bool is_right() const { return output.memory == expected.memory; }
};

}  // namespace colltopo
