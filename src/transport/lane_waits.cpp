#include "transport/lane_waits.h"

#include <algorithm>
#include <new>

namespace colltopo {

namespace {

constexpr double k_slowest_bytes_per_s = 16e6;  // that a network moves without a sign of it to the processor

}  // namespace

LaneWaits::LaneWaits(Rank ranks, double patience_s) : patience_s_(patience_s) {
  if (patience_s > 0) came_.resize(static_cast<std::size_t>(ranks));
}

// Where there is no memory for it, nothing is seen.
void LaneWaits::note(Transport::Request request, Rank peer, Lane lane, std::size_t bytes) noexcept {
  if (request == nullptr) return came(peer, lane);
  try {
    under_way_.push_back({request, peer, lane, bytes});
  } catch (const std::bad_alloc&) {
    patience_s_ = 0;
  }
}

void LaneWaits::note_end(Transport::Request request) noexcept {
  const auto found = std::ranges::find(under_way_, request, &Receive::request);
  if (found == under_way_.end()) return;
  came(found->peer, found->lane);
  *found = under_way_.back();
  under_way_.pop_back();
}

void LaneWaits::came(Rank peer, Lane lane) noexcept {
  Came& of_peer = came_[static_cast<std::size_t>(peer)];
  if (of_peer.run != run_) of_peer = {run_, 0};
  of_peer.lanes |= mask_of(lane);
}

void LaneWaits::run_is_over() noexcept {
  if (patience_s_ <= 0) return;
  under_way_.clear();
  ++run_;
  idle_turns_ = 0;
}

void LaneWaits::look() noexcept {
  const auto now = Clock::now();
  if (idle_turns_ == 1) idle_since_ = now;
  const double idle_s = std::chrono::duration<double>(now - idle_since_).count();
  if (idle_s < patience_s_) return;
  for (const Receive& receive : under_way_) {
    const Came& of_peer = came_[static_cast<std::size_t>(receive.peer)];
    const bool overtaken = of_peer.run == run_ && (of_peer.lanes & ~mask_of(receive.lane)) != 0;
    if (overtaken && idle_s >= patience_s_ + static_cast<double>(receive.bytes) / k_slowest_bytes_per_s)
      late_ |= mask_of(receive.lane);
  }
}

}  // namespace colltopo
