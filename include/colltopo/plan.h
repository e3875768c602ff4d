// A program made ready to be bound: read/write hazards per chunk turned into dependencies, once, and where scratch
// lies. No bytes: those come with a Bound (colltopo/bound.h).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "colltopo/program.h"

namespace colltopo {

/// Which dependencies a plan must respect.
struct PlanOptions {
  /// Input and output are the same memory (Shape::in_place_offset).
  bool in_place = false;
  /// Scratch is reused as soon as a value has been read for the last time, in a later step than that. Costs overlap,
  /// saves memory. Only for programs in whose schedule no rank's steps decrease (StepPattern::in_order).
  bool compact = false;

  friend bool operator==(const PlanOptions&, const PlanOptions&) = default;
};

/// A run of chunks and, of scratch, where it begins: `unit` units (of the largest chunk) and behind that as far as slot
/// `first` lies behind slot `origin`.
struct PlacedRun {
  Buffer buffer = Buffer::input;
  Chunk first = 0, count = 0;
  Chunk unit = 0, origin = 0;

  friend bool operator==(const PlacedRun&, const PlacedRun&) = default;
};

/// Ops that wait for another op to complete (hazards), and the order of messages to and from one peer.
///
/// Op b waits for an earlier op a when a writes a chunk that b touches, or b writes a chunk that a touches. Sends to
/// one peer start in program order, and so do receives from one peer: that alone matches the k-th send with the k-th
/// receive. Immutable; time and memory O(chunks touched).
class Plan {
 public:
  explicit Plan(std::shared_ptr<const Program> program, PlanOptions options = {});
  explicit Plan(Program program, PlanOptions options = {})
      : Plan(std::make_shared<const Program>(std::move(program)), options) {}

  const Program& program() const { return *program_; }
  PlanOptions options() const { return options_; }
  std::size_t size() const { return program_->size(); }

  /// Ops that may start only after `op` has completed.
  std::span<const std::uint32_t> after_completion(std::size_t op) const {
    return {successors_.data() + first_successor_[op], successors_.data() + first_successor_[op + 1]};
  }
  /// How many ops must complete before `op` starts.
  std::uint32_t waits(std::size_t op) const { return waits_[op]; }
  /// The next op with the same peer and direction, which may start only after `op` has started; -1: none.
  std::int32_t next_with_peer(std::size_t op) const { return next_with_peer_[op]; }
  /// What the op reads and writes; valid while the plan lives.
  std::span<const PlacedRun> source(std::size_t op) const {
    return {stretches_.data() + first_stretch_[2 * op], stretches_.data() + first_stretch_[2 * op + 1]};
  }
  std::span<const PlacedRun> target(std::size_t op) const {
    return {stretches_.data() + first_stretch_[2 * op + 1], stretches_.data() + first_stretch_[2 * op + 2]};
  }

  /// Scratch: so many units when compact; otherwise so many slots in the order of their numbers.
  Chunk scratch() const { return scratch_; }
  /// Chunks in messages that are gathered or scattered, as their runs lie apart.
  std::int64_t staged_chunks() const { return staged_chunks_; }
  /// Chunks in the longest message.
  Chunk longest_message() const { return longest_message_; }
  /// Whether steps never decrease.
  bool in_order() const { return in_order_; }
  /// Whether nothing waits for a message.
  bool independent() const { return independent_; }
  /// Bytes that the plan holds.
  std::size_t memory_bytes() const;

 private:
  void place_naturally();
  void place_compactly();
  void count_messages();
  void find_hazards();

  std::shared_ptr<const Program> program_;
  PlanOptions options_;
  std::vector<PlacedRun> stretches_;
  std::vector<std::uint32_t> first_stretch_;  // [2 * op] source, [2 * op + 1] target, and the end
  std::vector<std::uint32_t> successors_, first_successor_, waits_;
  std::vector<std::int32_t> next_with_peer_;
  Chunk scratch_ = 0;
  std::int64_t staged_chunks_ = 0;
  Chunk longest_message_ = 0;
  bool in_order_ = true, independent_ = true;
};

}  // namespace colltopo
