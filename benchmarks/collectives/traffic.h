// How the sizes of blocks differ in calls that give each a size of its own.
#pragma once

#include <cstddef>
#include <vector>

namespace colltopo::bench {

/// equal: all alike. uneven: half to three halves of the mean. skewed: by Zipf's law, the largest as many times the
/// smallest as there are ranks. huge: one block a thousand times the others. sparse: one in eight and what a rank has
/// for itself, eight times as large. hot: rank 0 has eight times as much for each as the others. diagonal: only within
/// groups of the fewest ranks that are no fewer than the groups. slabs: of a 3D transform of half as many planes more
/// than ranks, so that some have twice as many as others, on both sides. near: the same of six planes each but for two
/// ranks. halo: for the 26 neighbours in a periodic grid
/// as near to a cube as may be, 16 parts for a face, 4 for an edge, 1 for a corner.
enum class Spread { equal, uneven, skewed, huge, sparse, hot, diagonal, slabs, near, halo };

/// Elements that rank `from` has for rank `to`; a gatherv and its like take `to` as 0.
std::size_t elements_between(Spread spread, std::size_t mean, int ranks, int from, int to);

/// The ranks of a neighbourhood of such traffic, ascending: those that have something for a rank, or get it.
std::vector<int> sources_of(Spread spread, int ranks, int rank);
std::vector<int> destinations_of(Spread spread, int ranks, int rank);

/// The blocks of a neighbourhood call.
struct Edges {
  std::vector<int> counts, places;
};

/// One side of such a call, blocks in a row.
struct Blocks {
  std::vector<int> counts, places;
  std::size_t elements = 0;  // in all

  void add(std::size_t count);
  /// The block that has an element.
  std::size_t block_of(std::size_t element) const;
};

}  // namespace colltopo::bench
