// Sees lanes stall: a rank waits for a message on one, nothing moves any more, and another message of its sender, in
// the same run, has come by another lane. Sends are not looked at: a receiver that comes late is no fault of a lane.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "colltopo/transport.h"

namespace colltopo {

/// Lanes by their bits: there are 64 at most.
using LaneMask = std::uint64_t;

constexpr LaneMask mask_of(Lane lane) { return lane < 64 ? LaneMask{1} << lane : 0; }

class LaneWaits {
 public:
  /// `patience_s`: how long nothing may move; 0: for ever. A message of many bytes has longer.
  LaneWaits(Rank ranks, double patience_s);

  /// A receive begins; `request` is null if it is over already.
  void begins(Transport::Request request, Rank peer, Lane lane, std::size_t bytes) noexcept {
    if (patience_s_ > 0) [[unlikely]]
      note(request, peer, lane, bytes);
  }
  /// A request is over, or given up. Those of sends are unknown here.
  void ends(Transport::Request request) noexcept {
    if (!under_way_.empty()) [[unlikely]]
      note_end(request);
  }
  /// After each look at the lanes.
  void turn(bool moved) noexcept {
    if (moved)
      idle_turns_ = 0;
    else if (!under_way_.empty() && idle_turns_++ % k_turns_between == 0) [[unlikely]]
      look();
  }
  void run_is_over() noexcept;

  /// Lanes that have been seen to stall since forget().
  LaneMask late() const noexcept { return late_; }
  void forget() noexcept { late_ = 0; }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr unsigned k_turns_between = 64;

  struct Receive {
    Transport::Request request;
    Rank peer;
    Lane lane;
    std::size_t bytes;
  };
  struct Came {
    unsigned run = 0;
    LaneMask lanes = 0;  // that a message came by in this run
  };

  void note(Transport::Request request, Rank peer, Lane lane, std::size_t bytes) noexcept;
  void note_end(Transport::Request request) noexcept;
  void came(Rank peer, Lane lane) noexcept;
  void look() noexcept;

  double patience_s_;
  std::vector<Receive> under_way_;
  std::vector<Came> came_;  // [peer]
  unsigned run_ = 1, idle_turns_ = 0;
  Clock::time_point idle_since_{};
  LaneMask late_ = 0;
};

}  // namespace colltopo
