// A torus of ranks: row-major, one rank per node, 2D ports (De Sensi et al. 2024, 2.2).
//
// Sides of 1 have no links and no ports, so a Torus forgets them: 8x1 is a ring of 8 with two ports.
#pragma once

#include <string>
#include <vector>

#include "colltopo/algorithms.h"

namespace colltopo {

class Torus {
 public:
  /// The torus that the options describe; without dimensions a ring of all ranks.
  Torus(const Shape& shape, const AlgorithmOptions& options);

  /// Dimensions, and sides, are those with more than one coordinate.
  int dimensions() const { return static_cast<int>(sides_.size()); }
  Rank side(int dimension) const { return sides_[static_cast<std::size_t>(dimension)]; }
  Rank stride(int dimension) const { return strides_[static_cast<std::size_t>(dimension)]; }
  Rank coordinate(Rank rank, int dimension) const { return rank / stride(dimension) % side(dimension); }
  /// The rank whose coordinate in one dimension is `value` and whose others are those of `rank`.
  Rank moved(Rank rank, int dimension, Rank value) const {
    return rank + (value - coordinate(rank, dimension)) * stride(dimension);
  }
  /// Concurrent collectives: one per port, 2D of them, or a single one.
  int ports(bool multiport) const { return multiport && dimensions() > 0 ? 2 * dimensions() : 1; }

 private:
  std::vector<Rank> sides_, strides_;
};

/// Why the options do not describe a torus of shape.ranks ranks; empty when they do.
std::string torus_refusal(const Shape& shape, const AlgorithmOptions& options);
/// "dimensions=4x4 ports=4"
std::string torus_description(const Shape& shape, const AlgorithmOptions& options);
/// One chunk of each shard per port.
Chunk chunks_for_ports(const Shape& shape, const AlgorithmOptions& options);
/// The option multiport, and whether it is on: unless told otherwise, it is.
Option multiport_option();
bool all_ports(const AlgorithmOptions& options);
/// Whether `auto` would take one ring of all ranks, and one of its ports: nothing is known of a torus. A row's
/// `repeats`.
bool is_plain_ring(const AlgorithmOptions& given);
/// All ports and a single one on a known torus; elsewhere a single one, because ports of a crossbar are one interface.
std::vector<AlgorithmOptions> variants_by_ports(const Shape& shape, const AlgorithmOptions& given);

/// The coordinate opposite to `coordinate` on a ring; mirrored collectives run as the plain one does on mirrored
/// coordinates. An even ring turns about coordinate 0, so that its neighbour pairs become the other neighbour pairs; an
/// odd one turns about its middle, so that the coordinate left over at one end becomes the one at the other end.
constexpr Rank mirror(Rank side, Rank coordinate) {
  return side % 2 == 0 ? (side - coordinate) % side : side - 1 - coordinate;
}

/// Coordinate that `coordinate` of a ring of even `side` meets in reduction step `step` of Swing (Eq. 2).
Rank swing_peer(Rank side, Rank coordinate, int step);

/// Smallest s with 2^s >= value.
int log2_ceiling(Rank value);

/// A ring of any side seen as a ring of the largest power of two below (2.3.2): the first coordinates stand together in
/// neighbour pairs, whose odd one is folded into the even one.
class Fold {
 public:
  explicit Fold(Rank side);

  Rank pairs() const { return pairs_; }
  Rank places() const { return places_; }  // a power of two
  /// Of doubling among the places, with those that fold before and unfold behind.
  int steps() const;
  bool paired(Rank coordinate) const { return coordinate < 2 * pairs_; }
  bool folded(Rank coordinate) const { return paired(coordinate) && coordinate % 2 == 1; }
  Rank partner(Rank coordinate) const { return coordinate ^ 1; }
  Rank place_of(Rank coordinate) const { return paired(coordinate) ? coordinate / 2 : coordinate - pairs_; }
  Rank coordinate_at(Rank place) const { return place < pairs_ ? 2 * place : place + pairs_; }

 private:
  Rank places_ = 1, pairs_ = 0;
};

/// When a collective works in which dimension: step 1.. of the schedule, step 0.. of the ring in that dimension.
struct Turn {
  Step step = 1;
  int dimension = 0;
  int ring_step = 0;
};

/// Reduction order of 4.1 and 4.2: `first` dimension, the next one, ... and round again; a dimension whose steps
/// [dimension] are used up is passed over.
std::vector<Turn> alternating_turns(const std::vector<int>& steps, int first);

}  // namespace colltopo
