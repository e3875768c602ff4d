// Runs a plan over a transport: out of order, over segments, without allocating once bound.
//
// Each (op, segment) starts when what it waits for has completed. Receives are posted as early as that allows, contiguous
// messages are sent from where they lie, others are gathered into a staging buffer. progress() never blocks.
#pragma once

#include <cstddef>
#include <cstdint>
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

class Execution {
 public:
  Execution(const Plan& plan, Transport& transport);
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  /// Computes where every message lies; allocates scratch, staging and state. Call it before the first start().
  void bind(const Binding& binding);

  /// Begins; the previous run must be over.
  void start(const Call& call) noexcept;
  /// Starts and completes what it can. True when all is done or an error has ended the run.
  bool progress() noexcept;
  /// 0, or the first error code of the transport or the reduction.
  int status() const { return status_; }
  /// start(), then progress() and Transport::progress() until done; returns status().
  int run(const Call& call) noexcept;

  /// Messages and bytes that one run sends (known once bound), in all and to each peer.
  std::size_t messages() const { return messages_; }
  std::size_t bytes_sent() const { return bytes_sent_; }
  std::size_t memory_bytes() const;

 private:
  struct Piece {  // contiguous bytes of one buffer
    Buffer buffer;
    std::size_t offset, bytes;
  };
  struct Instance {  // an op in a segment
    std::uint32_t source, source_end;  // into pieces_
    std::uint32_t target, target_end;
    std::size_t bytes;     // of the message, or moved
    std::size_t staging;   // offset; k_none when the message is one piece
  };
  static constexpr std::size_t k_none = ~std::size_t{0};

  void append_pieces(std::span<const Run> runs, int segment, const Layout& layout, std::span<const std::size_t> slots);
  std::byte* at(const Piece& piece) const noexcept;
  void release(std::uint32_t instance) noexcept;
  void make_ready(std::uint32_t instance) noexcept;
  bool issue(std::uint32_t instance) noexcept;  // true when it completed at once
  void complete(std::uint32_t instance) noexcept;
  void finish_step(std::uint32_t op) noexcept;
  void move(const Instance& instance, Action action) noexcept;
  void fail(int code) noexcept;

  const Plan& plan_;
  Transport& transport_;
  Binding bound_;
  std::vector<std::size_t> bound_counts_;
  bool is_bound_ = false;
  int segments_ = 1;

  std::vector<Piece> pieces_;
  std::vector<Instance> instances_;  // [op * segments + segment]
  std::vector<std::byte> scratch_, staging_;

  std::vector<std::uint32_t> waits_, initial_waits_;
  std::vector<std::uint32_t> ready_;  // a queue in [ready_head_, ready_tail_)
  std::size_t ready_head_ = 0, ready_tail_ = 0;
  struct Active {
    std::uint32_t instance;
    Transport::Request request;
  };
  std::vector<Active> active_;
  std::size_t actives_ = 0;
  std::size_t left_ = 0;  // instances not completed

  std::vector<std::uint32_t> step_of_;     // op -> index of its step among the program's steps (Pace::steps)
  std::vector<std::uint32_t> step_sizes_, step_left_;
  std::vector<std::vector<std::uint32_t>> held_;  // ready, but of a later step
  std::uint32_t current_step_ = 0;

  std::size_t messages_ = 0, bytes_sent_ = 0;
  Call call_;
  int status_ = 0;
};

}  // namespace colltopo
