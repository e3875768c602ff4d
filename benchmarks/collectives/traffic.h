// How the sizes of blocks differ in calls that give each a size of its own.
#pragma once

#include <cstddef>
#include <vector>

namespace colltopo::bench {

/// equal: all alike. uneven: half to three halves of the mean. skewed: by Zipf's law, the largest as many times the
/// smallest as there are ranks. huge: one block a thousand times the others. sparse: one in eight and what a rank has
/// for itself, eight times as large.
enum class Spread { equal, uneven, skewed, huge, sparse };

/// Elements that rank `from` has for rank `to`; a gatherv and its like take `to` as 0.
std::size_t elements_between(Spread spread, std::size_t mean, int ranks, int from, int to);

/// One side of such a call, blocks in a row.
struct Blocks {
  std::vector<int> counts, places;
  std::size_t elements = 0;  // in all

  void add(std::size_t count);
  /// The block that has an element.
  std::size_t block_of(std::size_t element) const;
};

}  // namespace colltopo::bench
