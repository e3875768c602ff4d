// Runs what a plan is bound to over a transport: out of order, over segments, without allocating.
//
// Each (op, segment) starts when what it waits for has completed. Receives go before sends and are posted as early as
// that allows; contiguous messages are sent from where they lie, others are gathered into a staging buffer. Messages go
// before copies and reductions, which are done in stretches of bounded length with a look at the messages between them,
// and reductions before copies, as messages wait for most of them. progress() never blocks.
//
// An execution is what docs and design call a run: all that one call changes. It is made ready for any bound, one after
// the other; several may run on one communicator at a time, each with an arena of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "colltopo/bound.h"
#include "colltopo/transport.h"

namespace colltopo {

/// target = source (op) target on `elements` elements; 0 or an error code.
using ReduceFunction = int (*)(void* context, const void* source, void* target, std::size_t elements);

struct Call {
  const std::byte* input = nullptr;
  std::byte* output = nullptr;  // equals input + in-place offset when the plan is in place
  ReduceFunction reduce = nullptr;
  void* reduce_context = nullptr;
};

class Execution {
 public:
  Execution() = default;
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  /// Makes room for runs of `bound`; allocates no more than earlier ones left missing. Not while running.
  void prepare(const Bound& bound);

  /// Begins; the previous run must be over, and room made. `arena`: bound.arena_bytes() bytes, aligned to 64, this
  /// run's own until it is over. All must live as long.
  void start(const Bound& bound, Transport& transport, std::byte* arena, const Call& call) noexcept;
  /// Starts and completes what it can. True when all is done or an error has ended the run.
  bool progress() noexcept { return bound_->is_line_ ? progress_line() : progress_queues(); }
  /// start() and progress() in one.
  bool begin(const Bound& bound, Transport& transport, std::byte* arena, const Call& call) noexcept;
  /// After progress() or begin() has returned false: a request without which the next one would do nothing, or null.
  Transport::Request awaited() const noexcept { return awaited_; }
  /// 0, or the first error code of the transport or the reduction.
  int status() const { return status_; }
  /// Gives up what is under way, as after an error elsewhere.
  void give_up(int code) noexcept {
    if (bound_->is_line_)
      fail_line(code);
    else
      fail(code);
  }
  /// Whether messages of the last run were given up: they may still arrive in the arena.
  bool gave_up() const { return gave_up_; }
  /// start(), then progress() and Transport::progress() until done; returns status(). A line (Bound) blocks in
  /// Transport::wait.
  int run(const Bound& bound, Transport& transport, std::byte* arena, const Call& call) noexcept;

  std::size_t memory_bytes() const;

 private:
  using Instance = Frame::Instance;
  using Piece = Frame::Piece;

  struct Active {
    std::uint32_t instance, part;
    Transport::Request request;
  };
  /// Messages under way, tested in turn.
  struct Actives {
    std::vector<Active> all;
    std::size_t count = 0, cursor = 0;

    void add(const Active& active) { all[count++] = active; }
  };
  struct Queue {  // of instances, each of which comes in once per run
    std::vector<std::uint32_t> instances;
    std::size_t head = 0, tail = 0;

    bool empty() const { return head == tail; }
    void push(std::uint32_t instance) { instances[tail++] = instance; }
    std::uint32_t pop() { return instances[head++]; }
    void clear() { head = tail = 0; }
  };
  struct Spot {  // in the pieces of a move or a message
    std::uint32_t piece = 0;
    std::size_t offset = 0;
  };
  struct Moves {
    Queue ready;
    bool begun = false;  // the first one has come to these spots
    Spot source, target;
  };
  /// A message that goes in parts; those of `arrived` (by number modulo k_parts_under_way) are done out of turn.
  struct LongMessage {
    std::uint32_t issued = 0, done = 0, arrived = 0;
    Spot spot;  // what is gathered or scattered next
  };

  void set_bases(const Bound& bound, Transport& transport, std::byte* arena, const Call& call) noexcept {
    bound_ = &bound;
    transport_ = &transport;
    call_ = call;
    // Sources are read through the same pointers; only output and scratch are ever written.
    bases_[static_cast<std::size_t>(Buffer::input)] = const_cast<std::byte*>(call.input);
    bases_[static_cast<std::size_t>(Buffer::output)] = call.output;
    bases_[static_cast<std::size_t>(Buffer::scratch)] = arena;
    status_ = 0;
    line_at_ = 0;
    awaited_ = nullptr;
  }
  bool progress_line() noexcept;
  bool progress_queues() noexcept;
  template <bool blocking>
  bool advance_line() noexcept;
  template <bool blocking>
  bool finish_line() noexcept;
  void fail_line(int code) noexcept;

  std::byte* at(const Piece& piece) const noexcept {
    return bases_[static_cast<std::size_t>(piece.buffer)] + piece.offset * unit_;
  }
  std::byte* staged_at(const Instance& instance) const noexcept {
    return bases_[static_cast<std::size_t>(Buffer::scratch)] +
           bound_->staging_offset(instance.staging, instance.padding);
  }
  void make_ready(std::uint32_t instance) noexcept;
  void enqueue(std::uint32_t instance) noexcept;
  bool may_send() const noexcept {
    return frame_->sends_under_way_ == 0 || sends_under_way_ < frame_->sends_under_way_;
  }
  void issue_ready() noexcept;
  void issue(std::uint32_t instance) noexcept;
  void issue_parts(std::uint32_t instance) noexcept;
  int transfer(const Instance& instance, std::byte* message, std::size_t bytes, Transport::Request* request) noexcept;
  void collect(Spot& spot, std::byte* staged, std::size_t bytes) noexcept;
  void spread(Spot& spot, const std::byte* staged, std::size_t bytes) noexcept;
  void started(const Instance& instance) noexcept;
  void arrived(const Active& active) noexcept;
  void arrived_in_turn(const Instance& instance, LongMessage& message) noexcept;
  void completed(std::uint32_t instance) noexcept;
  void open_stages(std::uint32_t stage) noexcept;
  void poll(Actives& actives) noexcept;
  void move_on(Moves& moves, std::size_t& allowance) noexcept;
  std::size_t stretch_of(const Moves& moves, Action action, std::size_t allowance) const noexcept;
  void pass(Spot& spot, std::size_t bytes) const noexcept;
  int move_bytes(Action action, const std::byte* source, std::byte* target, std::size_t bytes) noexcept;
  void fail(int code) noexcept;

  const Bound* bound_ = nullptr;
  const Frame* frame_ = nullptr;  // the bound's, unless it is a line
  std::size_t unit_ = 1;
  Transport* transport_ = nullptr;
  Call call_;
  std::byte* bases_[3] = {};  // [Buffer]
  int status_ = 0;
  bool gave_up_ = false;

  std::vector<std::uint32_t> waits_;  // [instance] what it still waits for
  Queue receives_, sends_;            // ready
  Moves reductions_, copies_;
  Actives receiving_, sending_;
  std::vector<LongMessage> long_messages_;
  std::uint32_t sends_under_way_ = 0;
  std::size_t left_ = 0;  // instances not completed

  // Stages before current_stage_ have ended, and Frame::ahead_ from there on are open.
  std::vector<std::uint32_t> stage_left_, stage_held_;  // [stage] instances
  std::vector<std::uint32_t> held_;                     // [Frame::stage_begin_ + ...] ready, but not open
  std::uint32_t current_stage_ = 0;

  std::vector<Transport::Request> line_requests_;  // [message]
  std::size_t line_at_ = 0;                        // entry of the line
  Transport::Request awaited_ = nullptr;           // of a line
};

}  // namespace colltopo
