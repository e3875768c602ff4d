// What calls that do not block need before they begin, and ranks do together: settings agreed on, files looked up. Such
// work is done call by call in the order of the calls, which is the same on all ranks: each has its turn. The code is
// that of blocking calls, on a stack of its own (base/fiber.h): where that would wait for a message, it is left, and
// whoever moves communication on comes back to it.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <utility>

#include "base/fiber.h"
#include "colltopo/colltopo.h"
#include "transport/callbacks.h"

namespace colltopo {

/// Messages of what ranks agree on, which have a tag of their own; within a turn a wait leaves it. Whoever sends some
/// is in a turn or alone, so they are in one order on all ranks, which is that of the calls.
class TurnTransport final : public Transport {
 public:
  explicit TurnTransport(const colltopo_callbacks& callbacks) : messages_(callbacks) {
    messages_.serve_tag(COLLTOPO_AGREEMENT);
  }

  void begin_turn(Fiber& turn) { turn_ = &turn; }
  void end_turn() { turn_ = nullptr; }
  bool in_turn() const { return turn_ != nullptr; }
  /// What every wait is to move on too, while this stands.
  class MovesAlso {
   public:
    MovesAlso(TurnTransport& transport, std::function<void()> also) : transport_(transport) {
      transport_.also_ = std::move(also);
    }
    ~MovesAlso() { transport_.also_ = {}; }
    MovesAlso(const MovesAlso&) = delete;
    MovesAlso& operator=(const MovesAlso&) = delete;

   private:
    TurnTransport& transport_;
  };

  int send(const std::byte* data, std::size_t bytes, Rank peer, Lane lane, Request* request) noexcept override {
    return messages_.send(data, bytes, peer, lane, request);
  }
  int recv(std::byte* data, std::size_t bytes, Rank peer, Lane lane, Request* request) noexcept override {
    return messages_.recv(data, bytes, peer, lane, request);
  }
  int test(Request* request) noexcept override { return messages_.test(request); }
  int wait(Request* request) noexcept override {
    return turn_ == nullptr && !also_ ? messages_.wait(request) : Transport::wait(request);
  }
  void abandon(Request* request) noexcept override { messages_.abandon(request); }
  void progress() noexcept override {
    if (also_) also_();
    if (turn_ == nullptr)
      messages_.progress();
    else
      turn_->pause();
  }

 private:
  CallbackTransport messages_;
  Fiber* turn_ = nullptr;
  std::function<void()> also_;
};

/// The turns of one communicator. Any thread may call anything.
class Turns {
 public:
  Turns(TurnTransport& transport, const colltopo_callbacks& callbacks) : transport_(transport), callbacks_(callbacks) {}

  /// Behind all others. The turn is looked at until its body runs, not after. Throws std::bad_alloc: what a body needs
  /// to run is there from here on.
  void add(colltopo_turn& turn);
  /// Moves on the first, and those behind it as they come to be the first, until one waits. Does nothing while another
  /// thread is at it, or a blocking call.
  void move() noexcept;
  /// Nobody's turn is still to come.
  bool empty() const noexcept { return pending_.load(std::memory_order_acquire) == 0; }
  /// Calls that were known need not be any more.
  void forget() noexcept { Shared(taken_).fetch_add(1, std::memory_order_relaxed); }
  /// How often there was a turn, or calls were forgotten, modulo 2^32; written in one piece.
  const unsigned* taken() const noexcept { return &taken_; }

  /// A blocking call's own: waits until all turns before it are over, and keeps others from beginning.
  class Exclusive {
   public:
    explicit Exclusive(Turns& turns) noexcept;
    ~Exclusive() { turns_.busy_.clear(std::memory_order_release); }
    Exclusive(const Exclusive&) = delete;
    Exclusive& operator=(const Exclusive&) = delete;

   private:
    Turns& turns_;
  };

 private:
  using Shared = std::atomic_ref<unsigned>;
  bool begin_first() noexcept;
  std::unique_ptr<Fiber> unused_fiber() noexcept;

  TurnTransport& transport_;
  const colltopo_callbacks& callbacks_;
  std::atomic_flag busy_ = ATOMIC_FLAG_INIT;  // somebody runs a turn, or what takes its place
  std::atomic_flag lock_ = ATOMIC_FLAG_INIT;  // of the list
  colltopo_turn *first_ = nullptr, *last_ = nullptr;
  std::atomic<int> pending_ = 0;
  alignas(Shared::required_alignment) unsigned taken_ = 0;
  std::unique_ptr<Fiber> fiber_;  // of all turns that are to come, one after the other
  bool is_under_way_ = false;     // the first one, by whoever is busy
};

}  // namespace colltopo
