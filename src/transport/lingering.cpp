#include "transport/lingering.h"

#include <algorithm>
#include <cstddef>
#include <new>

#include "transport/lane_transport.h"

namespace colltopo {

void Lingering::add(LaneTransport& lanes) noexcept {
  lanes.linger();
  const std::lock_guard lock(mutex_);
  if (std::ranges::find(all_, &lanes) != all_.end()) return;
  try {
    all_.push_back(&lanes);
  } catch (const std::bad_alloc&) {
    return;  // it moves on with the next call
  }
  std::atomic_ref(number_).fetch_add(1, std::memory_order_release);
}

void Lingering::remove(LaneTransport& lanes) noexcept {
  const std::lock_guard lock(mutex_);
  if (std::erase(all_, &lanes) > 0) std::atomic_ref(number_).fetch_sub(1, std::memory_order_release);
}

void Lingering::move() noexcept {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return;
  const auto gone = std::erase_if(all_, [](LaneTransport* lanes) { return lanes->owes_nothing(); });
  std::atomic_ref(number_).fetch_sub(static_cast<int>(gone), std::memory_order_release);
}

std::shared_ptr<std::atomic<int>> Lingering::operations_on(const LaneSet* set) {
  const std::lock_guard lock(mutex_);
  std::erase_if(operations_, [](const auto& known) { return known.second.expired(); });
  std::weak_ptr<std::atomic<int>>& known = operations_[set];
  std::shared_ptr<std::atomic<int>> number = known.lock();
  if (number == nullptr) known = number = std::make_shared<std::atomic<int>>(0);
  return number;
}

Lingering& lingering() {
  alignas(Lingering) static std::byte place[sizeof(Lingering)];
  static auto* const lingering = new (place) Lingering;  // never destroyed: communicators may be freed late
  return *lingering;
}

}  // namespace colltopo
