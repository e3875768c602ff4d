// What one GPU of an MSCCL algorithm remembers, by MSCCL's names for its memory, and where our buffers keep it.
//
// MSCCL's chunks are all of one size, so any fits anywhere; ours differ by an element, so a value may only lie where
// its size class fits (docs/schedule.md, 4). Each value is therefore followed: what is written to `o` lies in output
// where that is its place in the end, and otherwise, like what is written to `i` or `s`, in a scratch slot of its
// class. In an in-place algorithm `i` and `o` are one memory, and its first values are read from input.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "colltopo/program.h"
#include "formats/msccl.h"

namespace colltopo::msccl {

/// A chunk of ours and the class of the value in it.
struct Value {
  Buffer buffer = Buffer::input;
  Chunk chunk = 0;
  Chunk size_class = 0;
};

/// What one GPU remembers, by MSCCL's names for its memory.
class GpuMemory {
 public:
  GpuMemory(const Shape& shape, Rank rank, bool in_place) : shape_(shape), rank_(rank), in_place_(in_place) {}

  /// Chunks of a buffer that mean something.
  Chunk size(Memory memory) const { return holds_shard(memory) && !in_place_ ? shape_.chunks : shape_.whole(); }

  using Cell = std::int64_t;
  Cell cell(Memory memory, Chunk chunk) const {
    if (memory == Memory::scratch) return (Cell{2} << 40) + chunk;
    if (!in_place_) return (memory == Memory::input ? Cell{0} : Cell{1} << 40) + chunk;
    return (Cell{1} << 40) + chunk + own_shard(memory);
  }

  /// Null when nothing has been written there.
  const Value* value(Cell cell) {
    const auto known = values_.find(cell);
    if (known != values_.end()) return &known->second;
    const Chunk chunk = first_value(cell);
    if (chunk < 0) return nullptr;
    return &(values_[cell] = {Buffer::input, chunk, shape_.input_class(rank_, chunk)});
  }
  void set(Cell cell, const Value& value) { values_[cell] = value; }

  /// Where a value of this class lies when it is written to the cell.
  Value home(Cell cell, Chunk size_class) {
    const Chunk chunk = output_chunk(cell);
    if (chunk >= 0 && shape_.output_class(rank_, chunk) == size_class) return {Buffer::output, chunk, size_class};
    return slot(cell, size_class);
  }

  /// A scratch slot that `owner` alone has.
  Value slot(std::int64_t owner, Chunk size_class) {
    const auto [known, made] = slots_.try_emplace({owner, size_class}, 0);
    if (made) known->second = next_slot_[size_class]++ * shape_.classes() + size_class;
    return {Buffer::scratch, known->second, size_class};
  }

  /// In place: what has been its own output from the beginning.
  void keep_first_values(std::vector<Value>& from, std::vector<Value>& to) {
    if (!in_place_) return;
    for (Chunk chunk = 0; chunk < shape_.output_chunks(rank_); ++chunk) {
      const Cell at = cell(Memory::output, chunk);
      const Value* const held = value(at);
      if (held == nullptr || held->buffer != Buffer::input) continue;
      const Value target = home(at, held->size_class);
      if (target.buffer != Buffer::output) continue;
      from.push_back(*held);
      to.push_back(target);
    }
  }

 private:
  bool holds_shard(Memory memory) const {
    const CollectiveRow& row = colltopo::row(shape_.collective);
    return memory != Memory::scratch && (memory == Memory::input ? row.input : row.output).holds == Holds::shard;
  }
  /// Where a buffer of one shard lies among all shards, in place.
  Cell own_shard(Memory memory) const { return holds_shard(memory) ? Cell{rank_} * shape_.chunks : 0; }

  /// The input chunk that a cell holds before anything is written to it; -1: none.
  Chunk first_value(Cell cell) const {
    Cell chunk = cell - (in_place_ ? Cell{1} << 40 : 0);
    if (in_place_) chunk -= own_shard(Memory::input);
    return chunk >= 0 && chunk < shape_.input_chunks(rank_) ? static_cast<Chunk>(chunk) : -1;
  }
  /// The output chunk that a cell is in the end; -1: none.
  Chunk output_chunk(Cell cell) const {
    Cell chunk = cell - (Cell{1} << 40);
    if (in_place_) chunk -= own_shard(Memory::output);
    return chunk >= 0 && chunk < shape_.output_chunks(rank_) ? static_cast<Chunk>(chunk) : -1;
  }

  const Shape& shape_;
  Rank rank_;
  bool in_place_;
  std::unordered_map<Cell, Value> values_;
  std::map<std::pair<std::int64_t, Chunk>, Chunk> slots_;
  std::unordered_map<Chunk, Chunk> next_slot_;  // [class]
};

}  // namespace colltopo::msccl
