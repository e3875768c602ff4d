// What may run as a line: ops are started one after the other, each once the receives that it needs are complete.
//
// No op of such a plan waits for a send. Where that is so on every rank, each blocks only where its program itself
// does, run with buffered sends, and that ends. Others may wait for a send to a line that has not come to its receive:
// whether that ends is for verify() to prove.
#pragma once

#include <array>
#include <cstdint>

#include "colltopo/plan.h"

namespace colltopo {

/// What the line needs to know of ops, as bits by op.
struct LineOps {
  static constexpr std::size_t k_most_ops = 64;  // beyond, starting ops as they can is worth its queues

  std::array<std::uint64_t, k_most_ops> before{};  // [op] those it waits for
  std::uint64_t receives = 0, moves = 0;
  std::uint64_t first = 0;  // receives that are posted before everything else
};

/// Of a plan of no more than k_most_ops.
LineOps line_ops(const Plan& plan);

/// Few ops, none of which waits for a send; sizes may still forbid it.
bool can_be_line(const Plan& plan);

}  // namespace colltopo
