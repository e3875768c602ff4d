// Runs a plan over a transport: out of order, over segments, without allocating once bound.
//
// Each (op, segment) starts when what it waits for has completed. Receives are posted as early as that allows,
// contiguous messages are sent from where they lie, others are gathered into a staging buffer. Messages go before
// copies and reductions, which are done in stretches of bounded length with a look at the messages between them, and
// reductions before copies, as messages wait for most of them. progress() never blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "colltopo/layout.h"
#include "colltopo/plan.h"
#include "colltopo/transport.h"

namespace colltopo {

/// target = source (op) target on `elements` elements; 0 or an error code.
using ReduceFunction = int (*)(void* context, const void* source, void* target, std::size_t elements);

/// free: every op as soon as it may start. steps: no op of a step starts before the rank's ops of earlier steps ended.
/// window: sends of a slot (SegmentOrder) wait for the rank's sends of the slot `window` before it. Segments of a chunk
/// have sizes in proportion to the rate that the schedule gives to its flow, so flows of one step keep these rates
/// among each other, `window` segments apart at most.
enum class Pace : std::uint8_t { free, steps, window };

/// How the messages of several segments to one peer follow each other. op_by_op: all segments of an op, then those of
/// the next. slot_by_slot: by step + segment, as a pipeline fills; in no rank's program may steps decrease.
enum class SegmentOrder : std::uint8_t { op_by_op, slot_by_slot };

/// Bytes that are copied or reduced at most before messages are looked at again (an element at least): some 20
/// microseconds, in which a link of 100 Gb/s moves twice as much. k_no_stretch: where ranks copy messages themselves,
/// as within a node, a look in the middle of a reduction only delays what others wait for.
inline constexpr std::size_t k_stretch = std::size_t{128} * 1024;
inline constexpr std::size_t k_no_stretch = ~std::size_t{0};

/// What a call needs besides its buffers; binding again with equal values costs nothing.
struct Binding {
  std::size_t count = 0;  // as Layout's
  std::size_t element_size = 1;
  std::span<const std::size_t> counts = {};  // reduce_scatter with a count per rank; otherwise empty
  int segments = 1;
  SegmentOrder order = SegmentOrder::op_by_op;
  Pace pace = Pace::free;
  int window = 0;  // slots, with Pace::window; the order must be slot_by_slot
  std::size_t stretch = k_stretch;
};

struct Call {
  const std::byte* input = nullptr;
  std::byte* output = nullptr;  // equals input + in-place offset when the plan is in place
  ReduceFunction reduce = nullptr;
  void* reduce_context = nullptr;
};

class StraightLine;

class Execution {
 public:
  Execution(const Plan& plan, Transport& transport);
  ~Execution();
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  /// Computes where every message lies; allocates scratch, staging and state. Call it before the first start().
  /// False when it was bound to an equal call already.
  bool bind(const Binding& binding);

  /// Messages under way to a peer, and from one, when there are several segments: what keeps a link busy, and no more,
  /// for each one costs a look in every turn.
  static constexpr std::uint32_t k_window = 8;

  /// Begins; the previous run must be over.
  void start(const Call& call) noexcept;
  /// Starts and completes what it can. True when all is done or an error has ended the run.
  bool progress() noexcept;
  /// 0, or the first error code of the transport or the reduction.
  int status() const { return status_; }
  /// start(), then progress() and Transport::progress() until done; returns status(). Small plans in which nothing
  /// waits for a send are run in program order without queues.
  int run(const Call& call) noexcept;

  /// Messages and bytes that one run sends, known once bound; the second form of them goes to each peer in turn.
  std::size_t messages() const { return messages_; }
  std::size_t bytes_sent() const { return bytes_sent_; }
  template <class Visit>  // visit(Rank peer, std::size_t bytes) for every message sent
  void for_each_message(const Visit& visit) const {
    for (const Instance& i : instances_) {
      if (i.action == Action::send && i.bytes > 0) visit(i.peer, i.bytes);
    }
  }
  std::size_t memory_bytes() const;

 private:
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
    std::uint32_t behind;  // the one k_window messages behind, which waits for this one; k_no_instance: none
    std::uint32_t source, source_end;  // into pieces_
    std::uint32_t target, target_end;
    std::size_t bytes;    // of the message, or moved
    std::size_t staging;  // offset; k_none when the message is one piece
  };
  struct Active {
    std::uint32_t instance;
    Transport::Request request;
  };
  struct Queue {  // of instances, each of which comes in once per run
    std::vector<std::uint32_t> instances;
    std::size_t head = 0, tail = 0;

    bool empty() const { return head == tail; }
    void push(std::uint32_t instance) { instances[tail++] = instance; }
    void clear() { head = tail = 0; }
  };
  struct Spot {  // in the pieces of a move
    std::uint32_t piece = 0;
    std::size_t offset = 0;
  };
  struct Moves {
    Queue ready;
    bool begun = false;  // the first one has come to these spots
    Spot source, target;
  };
  static constexpr std::size_t k_none = ~std::size_t{0};
  static constexpr std::uint32_t k_no_instance = ~std::uint32_t{0};

  void place_messages();
  void chain_messages();
  template <class Visit>  // visit(std::uint32_t op, std::uint32_t segment)
  void in_order(const Visit& visit) const;
  void append_pieces(std::span<const Run> runs, int segment, const Layout& layout);
  std::size_t place_slots(int segment, std::size_t base, const Layout& layout);
  void count_waits();
  void straighten();
  [[gnu::noinline]] int run_queues(const Call& call) noexcept;
  int transfer(const Instance& instance, Transport::Request* request) noexcept;
  void scatter(const Instance& instance) noexcept;
  void set_bases(const Call& call) noexcept;
  void number_stages();
  std::uint32_t stage_of(const Instance& instance) const;

  std::byte* at(const Piece& piece) const noexcept {
    return bases_[static_cast<std::size_t>(piece.buffer)] + piece.offset;
  }
  std::byte* message_of(const Instance& instance) noexcept;
  void make_ready(std::uint32_t instance) noexcept;
  void enqueue(std::uint32_t instance) noexcept;
  void issue(std::uint32_t instance) noexcept;
  void started(const Instance& instance) noexcept;
  void completed(std::uint32_t instance) noexcept;
  void poll() noexcept;
  void move_on(Moves& moves, std::size_t& allowance) noexcept;
  std::size_t stretch_of(const Moves& moves, Action action, std::size_t allowance) const noexcept;
  void pass(Spot& spot, std::size_t bytes) const noexcept;
  int move_bytes(Action action, const std::byte* source, std::byte* target, std::size_t bytes) noexcept;
  void fail(int code) noexcept;

  const Plan& plan_;
  Transport& transport_;
  Binding bound_;
  std::vector<std::size_t> bound_counts_;
  bool is_bound_ = false;
  std::uint32_t segments_ = 1;

  std::vector<Piece> pieces_;
  std::vector<Instance> instances_;        // [op * segments + segment]
  std::vector<std::size_t> slot_offsets_;  // [index of a used slot], of the segment being placed
  std::vector<std::byte> scratch_, staging_;

  std::vector<std::uint32_t> waits_, initial_waits_;  // [instance] what it still waits for
  std::vector<std::uint32_t> first_ready_;            // instances that wait for nothing
  Queue ready_;                                       // messages
  Moves reductions_, copies_;
  std::vector<Active> active_;
  std::size_t actives_ = 0;
  std::size_t left_ = 0;  // instances not completed

  // What paces hold back has stages: steps, or slots with sends. Those before current_stage_ have ended, and `ahead_`
  // from there on are open.
  std::vector<Step> stages_;                             // in increasing order
  std::vector<std::uint32_t> stage_sizes_, stage_left_;  // [stage] instances
  std::vector<std::vector<std::uint32_t>> held_;         // [stage] ready, but not open
  std::uint32_t current_stage_ = 0, ahead_ = 1;

  std::unique_ptr<StraightLine> line_;  // null unless run() may take it

  std::size_t messages_ = 0, bytes_sent_ = 0;
  Call call_;
  std::byte* bases_[3] = {};  // [Buffer]
  int status_ = 0;
};

}  // namespace colltopo
