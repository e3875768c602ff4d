// Counting what a program does, and the sizes and parameters that the property tests go through.
#pragma once

#include <algorithm>
#include <set>
#include <vector>

#include "algorithms/bruck.h"
#include "colltopo/program.h"

namespace colltopo {

inline const std::vector<Rank> k_sizes = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11,
                                          12, 13, 14, 15, 16, 17, 24, 31, 32, 33, 64};

/// Every radix for a small size; for others the ends, what is near the square root, and odd ones between.
inline std::vector<int> radices_for(Rank size) {
  std::set<int> radices{2, balanced_radix(size), std::max(2, static_cast<int>(size))};
  const int step = size <= 17 ? 1 : std::max(5, size / 6);
  for (int radix = 3; radix < size; radix += step) radices.insert(radix);
  return {radices.begin(), radices.end()};
}

struct Traffic {
  int messages = 0;  // sent
  Chunk chunks = 0;  // sent
  Step last_step = 0;
  std::size_t most_runs_received = 0;  // in one message
};

/// What the program sends where accepts(peer) is true.
template <typename Accepts>
Traffic traffic_of(const Program& program, Accepts accepts) {
  Traffic traffic;
  for (std::size_t i = 0; i < program.size(); ++i) {
    const Op op = program.op(i);
    if (op.action == Action::recv) traffic.most_runs_received = std::max(traffic.most_runs_received, op.target.size());
    if (op.action != Action::send || !accepts(op.peer)) continue;
    ++traffic.messages;
    traffic.chunks += chunks_in(op.source);
    traffic.last_step = std::max(traffic.last_step, op.step);
  }
  return traffic;
}

inline Traffic traffic_of(const Program& program) {
  return traffic_of(program, [](Rank) { return true; });
}

/// Digits of size-1 in base radix: w = ceil(log_radix(size)).
inline int digits(Rank size, int radix) {
  int w = 0;
  for (std::int64_t power = 1; power < size; power *= radix) ++w;
  return w;
}

inline std::int64_t power(std::int64_t base, int exponent) {
  return exponent == 0 ? 1 : base * power(base, exponent - 1);
}

/// K of Fan et al., Propositions 1 and 3.
inline std::int64_t rounds_by_proposition_3(Rank size, int radix) {
  const int w = digits(size, radix);
  if (w == 0) return 0;
  const std::int64_t full = power(radix, w), top = power(radix, w - 1);
  return w * (radix - 1) - (full - size) / top;
}

/// h of Fan et al., Proposition 4: blocks of round (x, z).
inline std::int64_t blocks_by_proposition_4(Rank size, int radix, int x, int z) {
  const std::int64_t unit = power(radix, x), group = unit * radix;
  const std::int64_t lc = size / group * unit, t = size % group - z * unit;
  if (t <= 0) return lc;
  if (t / unit > 0) return lc + unit;
  return lc + t % unit;
}

/// D of Fan et al., Propositions 2 and 4.
inline std::int64_t blocks_by_propositions(Rank size, int radix) {
  const int w = digits(size, radix);
  if (power(radix, w) == size) return w == 0 ? 0 : w * (radix - 1) * power(radix, w - 1);
  std::int64_t sum = 0;
  for (int x = 0; x < w; ++x) {
    for (int z = 1; z < radix; ++z) sum += blocks_by_proposition_4(size, radix, x, z);
  }
  return sum;
}

}  // namespace colltopo
