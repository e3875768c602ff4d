// A plan at given sizes: where every message and move lies, what each waits for, and how much memory a run needs. Const
// once made, so any number of runs (colltopo/execution.h) may use it at once. Where all chunks have one size, all sizes
// share what was worked out, and a new one takes as long as its few numbers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "colltopo/arena.h"
#include "colltopo/layout.h"
#include "colltopo/plan.h"

namespace colltopo {

/// free: every op as soon as it may start. steps: no op of a step starts before the rank's ops of earlier steps ended.
enum class Pace : std::uint8_t { free, steps };

/// How the messages of several segments to one peer follow each other. op_by_op: all segments of an op, then those of
/// the next. slot_by_slot: by step + segment, as a pipeline fills; in no rank's program may steps decrease.
enum class SegmentOrder : std::uint8_t { op_by_op, slot_by_slot };

/// Bytes that are copied or reduced at most before messages are looked at again (an element at least): some 20
/// microseconds, in which a link of 100 Gb/s moves twice as much. k_no_stretch: where ranks copy messages themselves,
/// as within a node, a look in the middle of a reduction only delays what others wait for.
inline constexpr std::size_t k_stretch = std::size_t{128} * 1024;
inline constexpr std::size_t k_no_stretch = ~std::size_t{0};

/// Messages longer than this go in parts of this size, so that what has to be gathered or scattered needs memory for
/// the parts under way alone. Both ends know the length of a message, and nothing else of each other: the size is
/// fixed.
inline constexpr std::size_t k_part = std::size_t{1} << 19;  // bytes
inline constexpr std::uint32_t k_parts_under_way = 4;        // of a message

/// What a call needs besides its buffers.
struct Binding {
  std::size_t count = 0;  // as Layout's
  std::size_t element_size = 1;
  std::span<const std::size_t> counts = {};  // reduce_scatter with a count per rank; otherwise empty
  int segments = 1;
  SegmentOrder order = SegmentOrder::op_by_op;
  Pace pace = Pace::free;
  /// Sends under way at most; 0: any number. Holds where that can close no cycle: over steps, if no rank's steps
  /// decrease (window_for() of colltopo/segments.h), and within one if `independent`.
  std::uint32_t window = 0;
  bool independent = false;  // no message of any rank waits for another
  std::size_t stretch = k_stretch;
  std::size_t part = k_part;  // equal on all ranks
  UnevenShards shards = {};   // of a call with shards of sizes of their own, in place of the count
};

/// A plan with everything placed: in bytes, or, where all chunks have one size, in chunks of any size. Const once made.
class Frame {
 public:
  /// `in_chunks`: for every binding in one segment with uniform_unit(), under way, paced and ordered like this one.
  Frame(std::shared_ptr<const Plan> plan, const Binding& binding, bool in_chunks);

  /// Bytes of a chunk where all have as many and nothing else depends on sizes; 0: they differ, or messages go in
  /// parts.
  static std::size_t uniform_unit(const Plan& plan, const Binding& binding);
  /// Whether one in chunks holds for a binding that has a unit.
  bool suits(const Binding& binding) const;

  std::size_t memory_bytes() const;

  /// Messages under way to a peer, and from one, when there are several segments: what keeps a link busy, and no more,
  /// for each one costs a look in every turn.
  static constexpr std::uint32_t k_window_of_peer = 8;

 private:
  friend class Bound;
  friend class Execution;
  friend class Line;

  struct Piece {  // contiguous bytes of one buffer
    Buffer buffer;
    std::size_t offset, bytes;
  };
  struct Instance {  // an op in a segment
    Action action;
    Lane lane;
    Rank peer;
    std::uint32_t op, segment;
    std::uint32_t next;    // the next message with the same peer and direction; k_no_instance: none
    std::uint32_t behind;  // the one k_window_of_peer messages behind, which waits for this one; k_no_instance: none
    std::uint32_t source, source_end;  // into pieces_
    std::uint32_t target, target_end;
    std::uint32_t stage;    // k_no_stage: never held back
    std::uint32_t parts;    // place in Execution::long_messages_; k_no_instance: goes in one part
    std::uint32_t padding;  // of staging: so many times the alignment
    std::size_t bytes;      // of the message, or moved
    std::size_t staging;    // offset behind scratch; k_none when the message is one piece
  };
  static constexpr std::size_t k_none = ~std::size_t{0};
  static constexpr std::uint32_t k_no_instance = ~std::uint32_t{0};
  static constexpr std::uint32_t k_no_stage = ~std::uint32_t{0};

  std::size_t parts_of(const Instance& i) const { return i.parts == k_no_instance ? 1 : (i.bytes + part_ - 1) / part_; }

  void place_messages(const Binding& binding);
  void place_segment(std::uint32_t segment, const Slice& slice, std::size_t scratch);
  void append_pieces(std::span<const PlacedRun> stretches, const Slice& slice, std::size_t scratch);
  void place_staging();
  void chain_messages();
  template <class Visit>  // visit(std::uint32_t op, std::uint32_t segment)
  void in_order(const Visit& visit) const;
  void count_waits();
  void hold_back(const Binding& binding);
  void number_stages(bool whole_steps, bool receives);

  std::shared_ptr<const Plan> plan_;
  bool in_chunks_;
  std::uint32_t segments_ = 1;
  SegmentOrder order_;
  Pace pace_;
  std::uint32_t window_;
  bool independent_;
  std::size_t part_;

  std::vector<Piece> pieces_;
  std::vector<Instance> instances_;         // [op * segments + segment]
  std::vector<std::uint32_t> waits_;        // [instance] what it waits for
  std::vector<std::uint32_t> first_ready_;  // instances that wait for nothing
  std::array<std::uint32_t, 4> actions_{};  // [Action] instances
  std::uint32_t long_messages_ = 0;         // that go in parts
  std::uint32_t sends_under_way_ = 0;       // at most, within a step; 0: any number
  std::vector<std::uint32_t> stage_sizes_;  // [stage] instances
  std::vector<std::uint32_t> stage_begin_;  // [stage] instances of earlier ones, and of all
  std::uint32_t ahead_ = 0;                 // stages that are open at a time; 0: none is held back
  std::size_t scratch_bytes_ = 0;           // chunks, if in chunks; so are the next one and bytes_sent_
  std::size_t staging_bytes_ = 0;
  std::uint32_t staging_padding_ = 0;  // as Instance::padding, of all of it
  std::size_t messages_ = 0, bytes_sent_ = 0;
};

class Bound {
 public:
  static constexpr std::size_t k_alignment = Arena::k_alignment;  // bytes, of scratch areas and staged messages

  Bound(std::shared_ptr<const Plan> plan, const Binding& binding);
  /// By a frame in chunks that suits it: in time of the line alone.
  Bound(std::shared_ptr<const Frame> frame, const Binding& binding);

  /// Whether it was made for an equal binding.
  bool is_for(const Binding& binding) const;
  const Plan& plan() const { return *frame_->plan_; }

  /// Memory that a run needs for scratch and for messages that are gathered or scattered.
  std::size_t arena_bytes() const { return arena_bytes_; }
  /// Messages and bytes that one run sends; the second form of them goes to each peer in turn.
  std::size_t messages() const { return frame_->messages_; }
  std::size_t bytes_sent() const { return frame_->bytes_sent_ * unit_; }
  template <class Visit>  // visit(Rank peer, std::size_t messages, std::size_t bytes)
  void for_each_send(const Visit& visit) const {
    for (const Instance& i : frame_->instances_) {
      if (i.action == Action::send && i.bytes > 0) visit(i.peer, frame_->parts_of(i), i.bytes * unit_);
    }
  }
  /// Bytes that it holds itself, and those of its frame unless that is in chunks, which others share.
  std::size_t memory_bytes() const;

 private:
  friend class Execution;
  friend class Line;
  using Piece = Frame::Piece;
  using Instance = Frame::Instance;

  /// An entry of a small plan as one line of moves, messages and waits: what queues would find out in every call is
  /// found out once. A rank then blocks only where its program itself does, run with buffered sends, and that ends.
  struct Entry {
    enum class Kind : std::uint8_t { send, recv, copy, reduce, wait };
    Kind kind;
    std::uint8_t source, target;  // Buffer
    Lane lane;
    Rank peer;
    std::uint32_t message;
    std::size_t source_offset, target_offset;
    std::size_t size;  // bytes; elements for reduce
  };

  std::size_t staging_offset(std::size_t staging, std::uint32_t padding) const {
    return scratch_bytes_ + (staging * unit_ + padding * k_alignment) / k_alignment * k_alignment;
  }
  void straighten();
  void keep_counts();

  std::shared_ptr<const Frame> frame_;
  Binding binding_;
  std::vector<std::size_t> counts_;  // what binding_ refers to
  std::size_t unit_;                 // bytes of what the frame counts
  std::size_t scratch_bytes_ = 0, arena_bytes_ = 0;
  std::vector<Entry> line_;  // empty: by queues
  std::uint32_t line_messages_ = 0;
  bool is_line_ = false;
};

/// The plans of one program: as it is, or compact where scratch and staging would take more than `k_natural_bytes`.
class Plans {
 public:
  /// `in_order`: no rank's steps decrease; without that nothing is compact.
  Plans(std::shared_ptr<const Program> program, bool in_place, bool in_order)
      : program_(std::move(program)), in_place_(in_place), in_order_(in_order) {}

  const Program& program() const { return *program_; }
  const Plan& natural();
  std::shared_ptr<const Bound> bind(const Binding& binding);
  std::size_t memory_bytes() const;

  static constexpr std::size_t k_natural_bytes = std::size_t{1} << 20;

 private:
  std::size_t natural_bytes(const Binding& binding) const;

  std::shared_ptr<const Program> program_;
  bool in_place_, in_order_;
  std::shared_ptr<const Plan> natural_, compact_;
  std::shared_ptr<const Frame> natural_frame_, compact_frame_;  // in chunks
};

}  // namespace colltopo
