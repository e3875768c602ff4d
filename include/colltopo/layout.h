// Where chunks lie in memory, for one call: the only place where chunks become bytes.
//
// A shard of n elements is cut into `segments` slices, and each slice into the shape's chunks, all by the same rule:
// part i of n elements in p parts begins at i * (n / p) + min(i, n % p). So chunks of one segment that follow each
// other are contiguous in memory, and every rank computes the same sizes from (count, element size, segments).
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "colltopo/shape.h"

namespace colltopo {

/// First element of part `part` when `elements` are cut into `parts`; split(n, p, p) == n.
constexpr std::size_t split(std::size_t elements, std::size_t parts, std::size_t part) {
  return part * (elements / parts) + std::min(part, elements % parts);
}

class Layout {
 public:
  /// `count`: elements per shard, or of the vector (CollectiveRow::counts_shards).
  Layout(const Shape& shape, std::size_t count, std::size_t element_size, int segments = 1);
  /// reduce_scatter with a count per rank.
  Layout(const Shape& shape, std::span<const std::size_t> counts, std::size_t element_size, int segments = 1);

  int segments() const { return segments_; }
  std::size_t element_size() const { return element_size_; }  // bytes

  /// Byte offset of a chunk of `segment` in the user's buffer (input or output of `rank`).
  std::size_t input_offset(Rank rank, Chunk chunk, int segment) const;
  std::size_t output_offset(Rank rank, Chunk chunk, int segment) const;
  /// Bytes of any chunk of this size class (Shape::classes()) in `segment`.
  std::size_t bytes(Chunk size_class, int segment) const;
  /// Bytes of the whole input or output buffer of a rank.
  std::size_t input_bytes(Rank rank) const;
  std::size_t output_bytes(Rank rank) const;
  /// Under MPI_IN_PLACE, from the first byte of output to that of input; negative where output lies in input.
  std::ptrdiff_t in_place_bytes(Rank rank) const;

 private:
  std::size_t shard_begin(Rank shard) const;     // elements
  std::size_t shard_elements(Rank shard) const;  // elements
  std::size_t element_at(Rank shard, Chunk part, int segment) const;
  std::size_t offset(const Content& content, Rank rank, Chunk chunk, int segment) const;
  std::size_t buffer_bytes(const Content& content, Rank rank, Chunk chunks) const;

  Shape shape_;
  const CollectiveRow* row_;
  Chunk parts_ = 1;                  // chunks per shard as cut here (a whole vector is one shard)
  std::size_t count_ = 0;            // elements per shard when equal
  std::vector<std::size_t> begins_;  // elements before shard j; empty when shards are equal
  std::size_t element_size_ = 1;
  int segments_ = 1;
};

}  // namespace colltopo
