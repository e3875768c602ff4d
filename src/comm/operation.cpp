#include "comm/operation.h"

#include <cstring>
#include <thread>

namespace colltopo {

void Ready::set_aside(Call& buffers, std::byte* memory) const noexcept {
  std::byte* const copy = memory + aligned_arena_bytes();
  if (output_in_input) {
    buffers.output = copy;  // of which the caller wants nothing
  } else {
    std::memcpy(copy, buffers.input, copied_bytes);
    buffers.input = copy;
  }
}

void Operation::prepare(std::shared_ptr<Ready> ready) {
  execution_.prepare(*ready->bound);
  if (memory_.bytes() < ready->memory_bytes()) memory_ = Arena::Block(ready->memory_bytes());
  ready_ = std::move(ready);
}

void Operation::end() noexcept {
  if (ready_ != nullptr && gave_up()) Arena::keep_for_ever(std::move(memory_));
  ready_.reset();
}

void SpinLock::pause() noexcept { std::this_thread::yield(); }

std::unique_ptr<Operation> OperationStore::take() noexcept {
  const SpinLock lock(lock_);
  if (idle_.empty()) return nullptr;
  std::unique_ptr<Operation> found = std::move(idle_.back());
  idle_.pop_back();
  idle_bytes_.store(idle_bytes_.load(std::memory_order_relaxed) - found->memory_bytes(), std::memory_order_relaxed);
  return found;
}

void OperationStore::keep(std::unique_ptr<Operation> operation) noexcept {
  const std::size_t bytes = operation->memory_bytes();
  const SpinLock lock(lock_);
  if (idle_bytes_ + bytes > k_most_idle_bytes) return;
  try {
    idle_.push_back(std::move(operation));
  } catch (const std::bad_alloc&) {
    return;  // freed
  }
  idle_bytes_.store(idle_bytes_.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
}

}  // namespace colltopo
