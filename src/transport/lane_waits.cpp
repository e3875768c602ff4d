#include "transport/lane_waits.h"

#include <algorithm>

namespace colltopo {

namespace {

constexpr double k_slowest_bytes_per_s = 16e6;  // that a network moves without a sign of it to the processor

}  // namespace

LaneWaits::LaneWaits(Rank ranks, double patience_s) : patience_s_(patience_s) {
  if (patience_s <= 0) return;
  arrived_.resize(static_cast<std::size_t>(ranks));
  under_way_.reserve(k_most_watched);
}

void LaneWaits::begin_run(bool independent) noexcept {
  independent_ = independent;
  idle_turns_ = 0;
  ++run_;
}

void LaneWaits::watch(const Receive& receive) noexcept {
  idle_turns_ = 0;
  if (receive.request == nullptr)
    note(receive);
  else if (under_way_.size() < k_most_watched)
    under_way_.push_back(receive);
}

// Others may have moved what is over now.
void LaneWaits::take_out(Transport::Request request) noexcept {
  idle_turns_ = 0;
  const auto found = std::ranges::find(under_way_, request, &Receive::request);
  if (found == under_way_.end()) return;
  note(*found);
  *found = under_way_.back();
  under_way_.pop_back();
}

void LaneWaits::note(const Receive& receive) noexcept {
  Arrived& of_peer = arrived_[static_cast<std::size_t>(receive.peer)];
  if (of_peer.run != run_) of_peer = {run_};
  const std::int64_t number = receive.number;
  if (receive.lane == of_peer.lane) {
    of_peer.latest = std::max(of_peer.latest, number);
  } else if (number > of_peer.latest) {
    of_peer.latest_elsewhere = of_peer.latest;
    of_peer.latest = number;
    of_peer.lane = receive.lane;
  } else {
    of_peer.latest_elsewhere = std::max(of_peer.latest_elsewhere, number);
  }
}

bool LaneWaits::is_overtaken(const Receive& receive) const noexcept {
  const Arrived& of_peer = arrived_[static_cast<std::size_t>(receive.peer)];
  if (of_peer.run != run_) return false;
  const std::int64_t elsewhere = receive.lane == of_peer.lane ? of_peer.latest_elsewhere : of_peer.latest;
  return elsewhere > (independent_ ? -1 : std::int64_t{receive.number});
}

void LaneWaits::look() noexcept {
  const auto now = Clock::now();
  if (idle_turns_ == 1) idle_since_ = now;
  const double idle_s = std::chrono::duration<double>(now - idle_since_).count();
  if (idle_s < patience_s_) return;
  for (const Receive& receive : under_way_)
    if (is_overtaken(receive) && idle_s >= patience_s_ + static_cast<double>(receive.bytes) / k_slowest_bytes_per_s)
      late_ |= mask_of(receive.lane);
}

}  // namespace colltopo
