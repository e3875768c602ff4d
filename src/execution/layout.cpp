#include "colltopo/layout.h"

#include <algorithm>
#include <cstdlib>

namespace colltopo {

Layout::Layout(const Shape& shape, std::size_t count, std::size_t element_size, int segments)
    : shape_(shape),
      row_(&row(shape.collective)),
      parts_(shape.parts()),
      count_(count),
      element_size_(element_size),
      segments_(segments) {}

Layout::Layout(const Shape& shape, std::span<const std::size_t> counts, std::size_t element_size, int segments)
    : Layout(shape, 0, element_size, segments) {
  begins_.reserve(counts.size() + 1);
  begins_.push_back(0);
  for (const std::size_t count : counts) begins_.push_back(begins_.back() + count);
}

Layout::Layout(const Shape& shape, const UnevenShards& shards, int segments) : Layout(shape, 0, 1, segments) {
  uneven_ = &shards;
}

// Part and segment boundaries of a shard of so many bytes; those of the last part are the next segment's first.
std::size_t Layout::bytes_before(std::size_t shard_bytes, Chunk part, int segment) const {
  constexpr std::size_t k_grain = 64;
  const bool whole = shard_bytes < uneven_->whole_below;
  const std::size_t grain = whole ? std::max<std::size_t>(shard_bytes, 1) : k_grain;
  const std::size_t grains = (shard_bytes + grain - 1) / grain;
  const auto segments = static_cast<std::size_t>(segments_), s = static_cast<std::size_t>(segment);
  const std::size_t begin = split(grains, segments, s), slice = split(grains, segments, s + 1) - begin;
  const std::size_t before = begin + split(slice, static_cast<std::size_t>(parts_), static_cast<std::size_t>(part));
  return std::min(shard_bytes, before * grain);
}

std::size_t Layout::shard_begin(Rank shard) const {
  const auto j = static_cast<std::size_t>(shard);
  return begins_.empty() ? j * count_ : begins_[j];
}

std::size_t Layout::shard_elements(Rank shard) const {
  const auto j = static_cast<std::size_t>(shard);
  return begins_.empty() ? count_ : begins_[j + 1] - begins_[j];
}

std::size_t Layout::element_at(Rank shard, Chunk part, int segment) const {
  const std::size_t elements = shard_elements(shard);
  const auto segments = static_cast<std::size_t>(segments_), s = static_cast<std::size_t>(segment);
  const std::size_t begin = split(elements, segments, s);
  const std::size_t slice = split(elements, segments, s + 1) - begin;
  return shard_begin(shard) + begin + split(slice, static_cast<std::size_t>(parts_), static_cast<std::size_t>(part));
}

std::size_t Layout::offset(const Content& content, Rank rank, Chunk chunk, int segment) const {
  const std::size_t element = content.holds == Holds::shard ? element_at(rank, chunk, segment) - shard_begin(rank)
                                                            : element_at(chunk / parts_, chunk % parts_, segment);
  return element * element_size_;
}

std::size_t Layout::input_offset(Rank rank, Chunk chunk, int segment) const {
  return offset(row_->input, rank, chunk, segment);
}

std::size_t Layout::output_offset(Rank rank, Chunk chunk, int segment) const {
  return offset(row_->output, rank, chunk, segment);
}

std::size_t Layout::bytes(Chunk size_class, int segment) const {
  const Rank shard = size_class / parts_;
  const Chunk part = size_class % parts_;
  const auto segments = static_cast<std::size_t>(segments_), s = static_cast<std::size_t>(segment);
  const auto parts = static_cast<std::size_t>(parts_), i = static_cast<std::size_t>(part);
  const std::size_t elements = shard_elements(shard);
  const std::size_t slice = split(elements, segments, s + 1) - split(elements, segments, s);
  return (split(slice, parts, i + 1) - split(slice, parts, i)) * element_size_;
}

std::size_t Layout::buffer_bytes(const Content& content, Rank rank, Chunk chunks) const {
  if (chunks == 0) return 0;
  return (content.holds == Holds::shard ? shard_elements(rank) : shard_begin(chunks / parts_)) * element_size_;
}

std::size_t Layout::input_bytes(Rank rank) const { return buffer_bytes(row_->input, rank, shape_.input_chunks(rank)); }

std::size_t Layout::output_bytes(Rank rank) const {
  return buffer_bytes(row_->output, rank, shape_.output_chunks(rank));
}

std::ptrdiff_t Layout::in_place_bytes(Rank rank) const {
  const Chunk offset = shape_.in_place_offset(rank);
  const auto bytes = static_cast<std::ptrdiff_t>(shard_begin(std::abs(offset) / shape_.chunks) * element_size_);
  return offset < 0 ? -bytes : bytes;
}

Slice::Slice(const Layout& layout, int segment, bool has_scratch)
    : layout_(layout), segment_(segment), classes_(layout.shape_.classes()) {
  const auto segments = static_cast<std::size_t>(layout.segments_), s = static_cast<std::size_t>(segment);
  const auto parts = static_cast<std::size_t>(layout.parts_);
  const Rank shards = std::max<Rank>(1, classes_ / layout.parts_);  // in a period of size classes
  if (layout.uneven_ != nullptr) return;
  if (layout.begins_.empty()) {
    begin_ = split(layout.count_, segments, s);
    elements_ = split(layout.count_, segments, s + 1) - begin_;
    part_elements_ = elements_ / parts;
    longer_parts_ = elements_ % parts;
    unit_bytes_ = (part_elements_ + (longer_parts_ > 0 ? 1 : 0)) * layout.element_size_;
    bank_bytes_ = static_cast<std::size_t>(shards) * elements_ * layout.element_size_;
    return;
  }
  if (!has_scratch) return;
  for (Rank shard = 0; shard < shards; ++shard) {
    shard_offsets_.push_back(bank_bytes_);
    const std::size_t elements =
        layout.element_at(shard, layout.parts_, segment) - layout.element_at(shard, 0, segment);
    bank_bytes_ += elements * layout.element_size_;
    unit_bytes_ = std::max(unit_bytes_, (elements + parts - 1) / parts * layout.element_size_);
  }
}

Slice::Stretch Slice::uneven_stretch(Buffer buffer, Chunk chunk, Chunk count) const {
  const UnevenShards& shards = *layout_.uneven_;
  const bool reads = buffer == Buffer::input;
  const Content& content = reads ? layout_.row_->input : layout_.row_->output;
  const Blocks& blocks = reads ? shards.input : shards.output;
  const auto shard = static_cast<std::size_t>(chunk / layout_.parts_);
  const bool own = content.holds == Holds::shard;
  const std::size_t bytes = own ? shards.own : blocks.bytes[shard], at = own ? 0 : blocks.at[shard];
  const Chunk part = chunk % layout_.parts_;
  const std::size_t begin = layout_.bytes_before(bytes, part, segment_);
  return {at + begin, layout_.bytes_before(bytes, part + count, segment_) - begin};
}

std::size_t Slice::class_offset(Chunk size_class) const {
  const Rank shard = size_class / layout_.parts_;
  const Chunk part = size_class - shard * layout_.parts_;
  if (layout_.begins_.empty()) {
    const auto p = static_cast<std::size_t>(part);
    return (static_cast<std::size_t>(shard) * elements_ + p * part_elements_ + std::min(p, longer_parts_)) *
           layout_.element_size_;
  }
  const std::size_t within = layout_.element_at(shard, part, segment_) - layout_.element_at(shard, 0, segment_);
  return shard_offsets_[static_cast<std::size_t>(shard)] + within * layout_.element_size_;
}

}  // namespace colltopo
