#include "comm/turns.h"

#include <new>

#include "comm/operation.h"

namespace colltopo {

void Turns::add(colltopo_turn& turn) noexcept {
  turn.next = nullptr;
  const SpinLock lock(lock_);
  (last_ == nullptr ? first_ : last_->next) = &turn;
  last_ = &turn;
  Shared(taken_).fetch_add(1, std::memory_order_relaxed);
  pending_.fetch_add(1, std::memory_order_release);
}

// False: there is none, or no memory for it now.
bool Turns::begin_first() noexcept {
  colltopo_turn* turn = nullptr;
  {
    const SpinLock lock(lock_);
    turn = first_;
  }
  if (turn == nullptr) return false;
  try {
    fiber_ = std::make_unique<Fiber>([body = turn->body, context = turn->context] { body(context); });
  } catch (const std::bad_alloc&) {
    return false;
  }
  transport_.begin_turn(*fiber_);
  // Its owner may use the turn's memory for something else before the body has returned.
  const SpinLock lock(lock_);
  first_ = turn->next;
  if (first_ == nullptr) last_ = nullptr;
  return true;
}

void Turns::move() noexcept {
  if (empty() || busy_.test_and_set(std::memory_order_acquire)) return;
  while ((fiber_ != nullptr || begin_first()) && fiber_->resume()) {
    transport_.end_turn();
    fiber_.reset();
    pending_.fetch_sub(1, std::memory_order_release);
  }
  busy_.clear(std::memory_order_release);
}

Turns::Exclusive::Exclusive(Turns& turns) noexcept : turns_(turns) {
  while (!turns.empty() || turns.busy_.test_and_set(std::memory_order_acquire))
    turns.callbacks_.progress(turns.callbacks_.context);
}

}  // namespace colltopo
