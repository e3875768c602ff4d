// What the bytes of a schedule file may stand for. A rank reads its own section and pays for what that holds; none of
// these numbers is near what a schedule of real use has (16,384 ranks of up to 1,024 chunks).
#pragma once

#include <algorithm>
#include <cstdint>

#include "colltopo/schedule.h"

namespace colltopo::text {

struct Limits {
  /// Chunks of all ranks' blocks together, and of one: a plan has four bytes and a look at each, on every rank.
  static constexpr std::int32_t k_most_slots = 1 << 24;
  static constexpr std::int32_t k_most_chunks = 1 << 20;
  /// Of the ranks a file may have without a section for each: in memory there is an entry for each.
  static constexpr std::int32_t k_most_ranks = 1 << 22;
  /// Of a file that names an algorithm: one rank's program may have a run for each other rank in each round.
  static constexpr std::int32_t k_most_generated = 1 << 20;
  /// What prices a schedule has an entry for each step.
  static constexpr std::int32_t k_most_steps = 1 << 22;
  /// Ops of a section: what is forwarded over a ring of a hundred ranks, each chunk by itself, and any small one.
  static constexpr std::uint64_t k_least_most_ops = 1 << 18;
  static constexpr std::uint64_t k_ops_per_slot = 64;
  /// Bytes of a section that is no longer compressed, for each of its ops or routes.
  static constexpr std::uint64_t k_bytes_per_op = 32;
  static constexpr std::uint64_t k_most_raw = std::uint64_t{1} << 30;
  /// Bytes of a file that is read whole for the line of its first fault.
  static constexpr std::uint64_t k_most_searched = std::uint64_t{1} << 28;
  /// Bytes of a header, which may have the group of each rank.
  static constexpr std::uint64_t k_most_header = std::uint64_t{1} << 26;
  /// Of all sections together when a whole file is taken into memory, where it takes some 80 bytes for each ...
  static constexpr std::uint64_t k_least_most_whole = 1 << 23;
  /// ... and for each byte of a larger file.
  static constexpr std::uint64_t k_whole_per_byte = 64;
  /// Memory of all programs that a file names an algorithm for.
  static constexpr std::uint64_t k_most_whole_bytes = std::uint64_t{3} << 28;
  /// Links of all routes of a section: 16,384 targets on 4 lanes have 2^21 at 32 hops.
  static constexpr std::size_t k_most_links = std::size_t{1} << 24;
  /// Sides of a torus, as TopologyBuilder::arrange().
  static constexpr std::size_t k_most_sides = 32;
};

inline std::uint64_t most_ops(const Shape& shape) {
  const auto slots = static_cast<std::uint64_t>(shape.ranks) * static_cast<std::uint64_t>(shape.chunks);
  return std::max(Limits::k_least_most_ops, Limits::k_ops_per_slot * slots);
}

inline std::uint64_t most_raw_bytes(const Shape& shape) {
  return std::min(Limits::k_most_raw, Limits::k_bytes_per_op * most_ops(shape));
}

/// The most chunks that a block may have with so many ranks.
inline std::int32_t most_chunks(std::int32_t ranks) {
  return std::min(Limits::k_most_chunks, Limits::k_most_slots / ranks);
}

}  // namespace colltopo::text
