#include "comm/operation.h"

#include <cstring>
#include <exception>
#include <thread>

#include "comm/comm.h"

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

void Operation::prepare(std::shared_ptr<Ready> ready, bool again) {
  again_ = again;
  const bool by_rounds = ready->aggregated != nullptr;
  if (by_rounds && rounds_ == nullptr)
    rounds_ = std::make_unique<AggregatedRun>(comm_.rank(), comm_.ranks(), callbacks_);
  if (!by_rounds) execution_.prepare(*ready->bound);
  if (ready->on_lanes && lanes_ == nullptr) lanes_ = std::make_unique<LaneMessages>(*comm_.lanes());
  const std::size_t bytes = by_rounds ? ready->aggregated->memory_bytes() : ready->memory_bytes();
  if (memory_.bytes() < bytes) memory_ = Arena::Block(bytes);
  ready_ = std::move(ready);
  is_plain_ = !by_rounds && !ready_->on_lanes;
}

bool Operation::begin_on_lanes(const colltopo_call& call, int tag) noexcept {
  Call buffers = ready_->buffers_of(call);
  if (ready_->copied_bytes > 0) ready_->set_aside(buffers, memory_.data());
  lanes_->serve_tag(tag, again_, ready_->lanes_given_up);
  ready_->tally.ran();
  is_on_its_way_ = true;
  comm_.lanes()->operation_begins();
  const bool over = execution_.begin(*ready_->bound, *lanes_, memory_.data(), buffers);
  return over ? progress_on_lanes() : false;
}

// One that is over may be looked at again.
bool Operation::progress_on_lanes() noexcept {
  if (!is_on_its_way_) return true;
  lanes_->progress();
  if (!execution_.progress()) return false;
  is_on_its_way_ = false;
  comm_.lanes()->operation_ends();
  return true;
}

bool Operation::begin_rounds(const colltopo_call& call, int tag) noexcept {
  rounds_->serve_tag(tag);
  not_begun_ = nullptr;
  is_counted_ = false;
  try {
    rounds_->start(*ready_->aggregated, memory_.data(), call);
  } catch (const std::exception&) {
    not_begun_ = std::current_exception();
    return true;
  }
  return progress_rounds();
}

// What a run has sent is known after it. One that is over may be looked at again.
bool Operation::progress_rounds() noexcept {
  if (not_begun_ != nullptr) return true;
  if (!rounds_->progress()) return false;
  if (std::exchange(is_counted_, true)) return true;
  auto per_run = rounds_->counted(comm_.node_of());
  per_run[static_cast<std::size_t>(Counter::operations)] = 1;
  ready_->tally.bind(per_run);
  ready_->tally.ran();
  return true;
}

int Operation::rounds_status() const {
  if (not_begun_ != nullptr) std::rethrow_exception(not_begun_);
  return rounds_->status();
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
