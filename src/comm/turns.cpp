#include "comm/turns.h"

#include "comm/operation.h"

namespace colltopo {

void Turns::add(colltopo_turn& turn) {
  turn.next = nullptr;
  const SpinLock lock(lock_);
  if (fiber_ == nullptr) fiber_ = std::make_unique<Fiber>();
  (last_ == nullptr ? first_ : last_->next) = &turn;
  last_ = &turn;
  Shared(taken_).fetch_add(1, std::memory_order_relaxed);
  pending_.fetch_add(1, std::memory_order_release);
}

// False: there is none.
bool Turns::begin_first() noexcept {
  const SpinLock lock(lock_);
  if (first_ == nullptr) return false;
  fiber_->set(first_->body, first_->context);
  transport_.begin_turn(*fiber_);
  // Its owner may use the turn's memory for something else before the body has returned.
  first_ = first_->next;
  if (first_ == nullptr) last_ = nullptr;
  return is_under_way_ = true;
}

// Its stack is given back while nobody has a turn.
std::unique_ptr<Fiber> Turns::unused_fiber() noexcept {
  const SpinLock lock(lock_);
  return first_ == nullptr ? std::move(fiber_) : nullptr;
}

void Turns::move() noexcept {
  if (empty() || busy_.test_and_set(std::memory_order_acquire)) return;
  while ((is_under_way_ || begin_first()) && fiber_->resume()) {
    transport_.end_turn();
    is_under_way_ = false;
    const auto gone = unused_fiber();
    pending_.fetch_sub(1, std::memory_order_release);
  }
  busy_.clear(std::memory_order_release);
}

Turns::Exclusive::Exclusive(Turns& turns) noexcept : turns_(turns) {
  while (!turns.empty() || turns.busy_.test_and_set(std::memory_order_acquire))
    turns.callbacks_.progress(turns.callbacks_.context);
}

}  // namespace colltopo
