// Runs a plan over a transport: out of order, over segments, without allocating once bound.
//
// Each (op, segment) starts when what it waits for has completed. Receives are posted as early as that allows,
// contiguous messages are sent from where they lie, others are gathered into a staging buffer. progress() never blocks.
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
enum class Pace : std::uint8_t { free, steps };

/// What a call needs besides its buffers; binding again with equal values costs nothing.
struct Binding {
  std::size_t count = 0;  // as Layout's
  std::size_t element_size = 1;
  std::span<const std::size_t> counts = {};  // reduce_scatter with a count per rank; otherwise empty
  int segments = 1;
  Pace pace = Pace::free;
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
    std::uint32_t next;                // the next message with the same peer and direction; k_no_instance: none
    std::uint32_t source, source_end;  // into pieces_
    std::uint32_t target, target_end;
    std::size_t bytes;    // of the message, or moved
    std::size_t staging;  // offset; k_none when the message is one piece
  };
  struct Active {
    std::uint32_t instance;
    Transport::Request request;
  };
  static constexpr std::size_t k_none = ~std::size_t{0};
  static constexpr std::uint32_t k_no_instance = ~std::uint32_t{0};

  void place_messages();
  std::uint32_t next_message(std::uint32_t op, int segment) const;
  void append_pieces(std::span<const Run> runs, int segment, const Layout& layout);
  std::size_t place_slots(int segment, std::size_t base, const Layout& layout);
  void count_waits();
  void straighten();
  [[gnu::noinline]] int run_queues(const Call& call) noexcept;
  int transfer(const Instance& instance, Transport::Request* request) noexcept;
  void scatter(const Instance& instance) noexcept;
  void set_bases(const Call& call) noexcept;
  void number_steps();

  std::byte* at(const Piece& piece) const noexcept {
    return bases_[static_cast<std::size_t>(piece.buffer)] + piece.offset;
  }
  std::byte* message_of(const Instance& instance) noexcept;
  void make_ready(std::uint32_t instance) noexcept;
  void issue(std::uint32_t instance) noexcept;
  void started(const Instance& instance) noexcept;
  void completed(std::uint32_t instance) noexcept;
  void poll() noexcept;
  int move(const Instance& instance) noexcept;
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
  std::vector<std::uint32_t> ready_;                  // a queue in [ready_head_, ready_tail_)
  std::size_t ready_head_ = 0, ready_tail_ = 0;
  std::vector<Active> active_;
  std::size_t actives_ = 0;
  std::size_t left_ = 0;  // instances not completed

  std::vector<std::uint32_t> step_of_;                 // [op] index of its step among the program's (Pace::steps)
  std::vector<std::uint32_t> step_sizes_, step_left_;  // [step] instances
  std::vector<std::vector<std::uint32_t>> held_;       // [step] ready, but of a later step
  std::uint32_t current_step_ = 0;

  std::unique_ptr<StraightLine> line_;  // null unless run() may take it

  std::size_t messages_ = 0, bytes_sent_ = 0;
  Call call_;
  std::byte* bases_[3] = {};  // [Buffer]
  int status_ = 0;
};

}  // namespace colltopo
