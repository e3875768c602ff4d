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

#include "colltopo/program.h"

namespace colltopo {

/// First element of part `part` when `elements` are cut into `parts`; split(n, p, p) == n.
constexpr std::size_t split(std::size_t elements, std::size_t parts, std::size_t part) {
  return part * (elements / parts) + std::min(part, elements % parts);
}

/// One side of a call whose shards have sizes of their own: bytes of each, and where it begins; one per rank.
struct Blocks {
  std::span<const std::size_t> bytes = {}, at = {};
};

/// All of such a call. A side that holds a rank's own shard alone has no blocks, and neither has one that a rank does
/// not have. Shards are cut at multiples of 64 bytes from where they begin; those below `whole_below` bytes are not cut
/// and count as first chunk, which goes over one lane.
struct UnevenShards {
  bool given = false;
  Blocks input, output;
  std::size_t own = 0;  // bytes of the rank's own shard, where a side holds it alone
  std::size_t whole_below = 0;
};

class Layout {
 public:
  /// `count`: elements per shard, or of the vector (CollectiveRow::counts_shards).
  Layout(const Shape& shape, std::size_t count, std::size_t element_size, int segments = 1);
  /// reduce_scatter with a count per rank.
  Layout(const Shape& shape, std::span<const std::size_t> counts, std::size_t element_size, int segments = 1);
  /// Shards of any size and place, for programs without scratch. Lives no longer than what `shards` refers to.
  Layout(const Shape& shape, const UnevenShards& shards, int segments = 1);

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
  friend class Slice;
  std::size_t shard_begin(Rank shard) const;     // elements
  std::size_t shard_elements(Rank shard) const;  // elements
  std::size_t element_at(Rank shard, Chunk part, int segment) const;
  std::size_t offset(const Content& content, Rank rank, Chunk chunk, int segment) const;
  std::size_t buffer_bytes(const Content& content, Rank rank, Chunk chunks) const;
  std::size_t bytes_before(std::size_t shard_bytes, Chunk part, int segment) const;

  Shape shape_;
  const CollectiveRow* row_;
  Chunk parts_ = 1;                  // chunks per shard as cut here (a whole vector is one shard)
  std::size_t count_ = 0;            // elements per shard when equal
  std::vector<std::size_t> begins_;  // elements before shard j; empty when shards are equal
  std::size_t element_size_ = 1;
  int segments_ = 1;
  const UnevenShards* uneven_ = nullptr;
};

/// One segment of a layout, for placing runs of chunks: what the segment's chunks have in common is worked out once.
class Slice {
 public:
  /// `has_scratch`: slots will be asked for.
  Slice(const Layout& layout, int segment, bool has_scratch);

  /// Calls visit(offset, bytes) for each contiguous part of a run of the input or output of `rank`, in order; parts of
  /// no bytes are left out. Time O(parts).
  template <class Visit>
  void for_each_part(Rank rank, const Run& run, const Visit& visit) const {
    if (layout_.uneven_ != nullptr) return for_each_uneven_part(run, visit);
    const Content& content = run.buffer == Buffer::input ? layout_.row_->input : layout_.row_->output;
    const bool own = content.holds == Holds::shard;  // the buffer is the rank's shard alone
    const Rank shards = layout_.parts_ == 1 ? 0 : run.first / layout_.parts_;
    for (Chunk done = 0; done < run.count;) {
      const Chunk chunk = run.first + done;
      const Rank shard = layout_.parts_ == 1 ? chunk : (done == 0 ? shards : chunk / layout_.parts_);
      const Chunk part = chunk - shard * layout_.parts_;
      // In one segment shards follow each other without a gap.
      const Chunk count = layout_.segments_ == 1 ? run.count - done : std::min(run.count - done, layout_.parts_ - part);
      const Chunk last = chunk + count - 1;
      const Rank last_shard = layout_.parts_ == 1 ? last : last / layout_.parts_;
      const std::size_t begin = own ? element(rank, chunk) - layout_.shard_begin(rank) : element(shard, part);
      const std::size_t end = own ? element(rank, last + 1) - layout_.shard_begin(rank)
                                  : element(last_shard, last - last_shard * layout_.parts_ + 1);
      if (end > begin) visit(begin * layout_.element_size_, (end - begin) * layout_.element_size_);
      done += count;
    }
  }
  /// The same of a call with shards of sizes of their own.
  template <class Visit>
  void for_each_uneven_part(const Run& run, const Visit& visit) const {
    for (Chunk done = 0; done < run.count;) {
      const Chunk chunk = run.first + done;
      const Chunk count = std::min(run.count - done, layout_.parts_ - chunk % layout_.parts_);
      const Stretch stretch = uneven_stretch(run.buffer, chunk, count);
      if (stretch.bytes > 0) visit(stretch.offset, stretch.bytes);
      done += count;
    }
  }
  /// Bytes before a scratch slot when all slots lie in the order of their numbers; the slot after a period's last one
  /// is where the next period begins.
  std::size_t slot_offset(Chunk slot) const {
    const Chunk bank = classes_ == 1 ? slot : slot / classes_;
    return static_cast<std::size_t>(bank) * bank_bytes_ + class_offset(slot - bank * classes_);
  }
  /// Bytes of the largest chunk.
  std::size_t unit_bytes() const { return unit_bytes_; }

 private:
  // First element of a part, or the end of the last one, in the user's vector of all shards.
  std::size_t element(Rank shard, Chunk part) const {
    if (!layout_.begins_.empty()) return layout_.element_at(shard, part, segment_);
    const auto p = static_cast<std::size_t>(part);
    return static_cast<std::size_t>(shard) * layout_.count_ + begin_ + p * part_elements_ + std::min(p, longer_parts_);
  }
  std::size_t class_offset(Chunk size_class) const;
  struct Stretch {
    std::size_t offset, bytes;
  };
  /// Of `count` chunks of one shard.
  Stretch uneven_stretch(Buffer buffer, Chunk chunk, Chunk count) const;

  const Layout& layout_;
  int segment_;
  Chunk classes_;
  // With shards of one size: the slice of each begins at element `begin_` and has `elements_`; parts have
  // `part_elements_`, the first `longer_parts_` one more.
  std::size_t begin_ = 0, elements_ = 0, part_elements_ = 0, longer_parts_ = 0;
  std::vector<std::size_t> shard_offsets_;  // with counts: bytes of the segment's slices of the shards before each
  std::size_t bank_bytes_ = 0, unit_bytes_ = 0;
};

}  // namespace colltopo
