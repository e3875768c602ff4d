// A program made ready to run: read/write hazards per chunk turned into dependencies, once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "colltopo/program.h"

namespace colltopo {

/// Which dependencies a plan must respect. `in_place`: input and output are the same memory (Shape::in_place_offset).
struct PlanOptions {
  bool in_place = false;

  friend bool operator==(const PlanOptions&, const PlanOptions&) = default;
};

/// Ops that wait for another op to complete (hazards), and the order of messages to and from one peer.
///
/// Op b waits for an earlier op a when a writes a chunk that b touches, or b writes a chunk that a touches. Sends to
/// one peer start in program order, and so do receives from one peer: that alone matches the k-th send with the k-th
/// receive.
class Plan {
 public:
  Plan(Program program, PlanOptions options = {});

  const Program& program() const { return program_; }
  PlanOptions options() const { return options_; }
  std::size_t size() const { return program_.size(); }

  /// Ops that may start only after `op` has completed.
  std::span<const std::uint32_t> after_completion(std::size_t op) const {
    return {successors_.data() + first_successor_[op], successors_.data() + first_successor_[op + 1]};
  }
  /// The next op with the same peer and direction, which may start only after `op` has started; -1: none.
  std::int32_t next_with_peer(std::size_t op) const { return next_with_peer_[op]; }
  /// Slots of scratch that are used, in increasing order: others take no memory.
  std::span<const Chunk> slots() const { return slots_; }
  /// Index in slots() of a used slot.
  std::size_t slot_index(Chunk slot) const;
  /// Bytes that the plan holds.
  std::size_t memory_bytes() const;

 private:
  Program program_;
  PlanOptions options_;
  std::vector<std::uint32_t> successors_, first_successor_;
  std::vector<std::int32_t> next_with_peer_;
  std::vector<Chunk> slots_;
};

}  // namespace colltopo
