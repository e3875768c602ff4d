// Calls that begin in one function and end in another, any number of them at a time: what each needs to run, and where
// that is kept between calls.
#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include "colltopo/arena.h"
#include "colltopo/colltopo.h"
#include "colltopo/execution.h"
#include "comm/aggregated_run.h"
#include "comm/counters.h"
#include "transport/callbacks.h"
#include "transport/lane_messages.h"

namespace colltopo {

/// A plan at one size, ready to run, and how a call's buffers become the program's.
struct Ready {
  Ready(std::shared_ptr<const Bound> of, std::size_t row) : bound(std::move(of)), tally(row) {}

  Call buffers_of(const colltopo_call& call) const noexcept {
    Call buffers{static_cast<const std::byte*>(call.input), static_cast<std::byte*>(call.output), call.reduce,
                 call.reduce_context};
    if (one_buffer) {
      if (output_in_input)
        buffers.output = const_cast<std::byte*>(buffers.input) + offset;
      else
        buffers.input = buffers.output + offset;
    }
    return buffers;
  }
  /// Of an arena, with what is set aside behind it.
  std::size_t memory_bytes() const noexcept { return aligned_arena_bytes() + copied_bytes; }
  /// Puts what the program must not find changed into `memory`, of memory_bytes().
  void set_aside(Call& buffers, std::byte* memory) const noexcept;

  std::shared_ptr<const Bound> bound;
  Tally tally;
  std::size_t copied_bytes = 0;  // of the input: MPI_IN_PLACE with a program that is not in-place safe
  bool one_buffer = false;       // the caller gives one buffer, and the other lies in it
  bool output_in_input = false;  // at `offset` bytes, or the input in the output
  std::size_t offset = 0;
  std::int32_t ticks = 1;                            // until files are looked at again
  bool on_lanes = false;                             // by endpoints of our own
  LaneMask lanes_given_up = 0;                       // when it was wired
  std::shared_ptr<const AggregatedCall> aggregated;  // in place of `bound`, of one operation alone
  bool has_traffic = false;                          // that shares are to follow
  bool independent = false;                          // no send waits for a message
  bool is_small = false;                             // needs few bytes, and nothing else than to run

 private:
  std::size_t aligned_arena_bytes() const noexcept { return Arena::aligned(bound->arena_bytes()); }
};

class Comm;

class Operation {
 public:
  /// `callbacks` must outlive it.
  Operation(Comm& comm, const colltopo_callbacks& callbacks)
      : comm_(comm), transport_(callbacks), callbacks_(callbacks) {}

  Comm& comm() const noexcept { return comm_; }

  /// For calls of this size from now on, `again` and again or once. Throws std::bad_alloc. By lanes only once the
  /// communicator has some.
  void prepare(std::shared_ptr<Ready> ready, bool again);
  /// The pointers of `call` must be good until the end; `tag` goes with its messages. True: it is over already.
  bool begin(const colltopo_call& call, int tag) noexcept {
    if (!is_plain_) [[unlikely]]
      return ready_->on_lanes ? begin_on_lanes(call, tag) : begin_rounds(call, tag);
    Call buffers = ready_->buffers_of(call);
    if (ready_->copied_bytes > 0) ready_->set_aside(buffers, memory_.data());
    transport_.serve_tag(tag);
    ready_->tally.ran();
    return execution_.begin(*ready_->bound, transport_, memory_.data(), buffers);
  }
  /// Never blocks. True: it is over.
  bool progress() noexcept {
    if (is_plain_) [[likely]]
      return execution_.progress();
    return ready_->on_lanes ? progress_on_lanes() : progress_rounds();
  }
  /// As of an execution by the lent messages; of others there is no one message that could be looked at.
  Transport::Request awaited() const noexcept { return is_plain_ ? execution_.awaited() : nullptr; }
  /// Throws what kept it from beginning.
  int status() const { return ready_->aggregated == nullptr ? execution_.status() : rounds_status(); }
  bool gave_up() const noexcept { return ready_->aggregated == nullptr ? execution_.gave_up() : rounds_->gave_up(); }
  const Ready& ready() const noexcept { return *ready_; }
  /// Lets go of the plan, and of memory in which messages may still arrive.
  void end() noexcept;
  std::size_t memory_bytes() const noexcept {
    return sizeof(*this) - sizeof(Execution) + execution_.memory_bytes() + memory_.bytes();
  }

 private:
  bool begin_on_lanes(const colltopo_call& call, int tag) noexcept;
  bool progress_on_lanes() noexcept;
  bool begin_rounds(const colltopo_call& call, int tag) noexcept;
  bool progress_rounds() noexcept;
  int rounds_status() const;

  Comm& comm_;
  CallbackTransport transport_;
  std::shared_ptr<Ready> ready_;
  Execution execution_;
  Arena::Block memory_;
  const colltopo_callbacks& callbacks_;
  bool is_plain_ = true;                 // an execution by the lent messages
  std::unique_ptr<LaneMessages> lanes_;  // of plans that go by them
  bool is_on_its_way_ = false;           // by lanes
  bool again_ = false;
  std::unique_ptr<AggregatedRun> rounds_;  // of calls that pass blocks on
  std::exception_ptr not_begun_;           // why not
  bool is_counted_ = false;
};

/// A few instructions long.
class SpinLock {
 public:
  explicit SpinLock(std::atomic_flag& flag) noexcept : flag_(flag) {
    while (flag_.test_and_set(std::memory_order_acquire)) pause();
  }
  ~SpinLock() { flag_.clear(std::memory_order_release); }
  SpinLock(const SpinLock&) = delete;
  SpinLock& operator=(const SpinLock&) = delete;

 private:
  static void pause() noexcept;
  std::atomic_flag& flag_;
};

/// Operations that nobody uses, for the next calls. Thread-safe.
class OperationStore {
 public:
  /// One that is kept, or null.
  std::unique_ptr<Operation> take() noexcept;
  /// Kept while all that is kept fits into k_most_idle_bytes.
  void keep(std::unique_ptr<Operation> operation) noexcept;
  std::size_t memory_bytes() const noexcept { return idle_bytes_.load(std::memory_order_relaxed); }

  static constexpr std::size_t k_most_idle_bytes = std::size_t{4} << 20;

 private:
  std::atomic_flag lock_ = ATOMIC_FLAG_INIT;
  std::vector<std::unique_ptr<Operation>> idle_;
  std::atomic<std::size_t> idle_bytes_ = 0;
};

}  // namespace colltopo
