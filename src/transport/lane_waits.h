// Sees lanes stall: a rank waits for a message on one, nothing moves any more, and by another lane a message of the
// same sender has come that it began later; or, in a run whose sends wait for nothing, any. Sends are not looked at: a
// receiver that comes late is no fault of a lane.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "colltopo/transport.h"

namespace colltopo {

/// Lanes by their bits: there are 64 at most.
using LaneMask = std::uint64_t;

constexpr LaneMask mask_of(Lane lane) { return lane >= 0 && lane < 64 ? LaneMask{1} << lane : 0; }

class LaneWaits {
 public:
  /// `patience_s`: how long nothing may move; 0: for ever. A message of many bytes has longer.
  LaneWaits(Rank ranks, double patience_s);

  /// Before a run. `independent`: none of its sends waits for a message.
  void begin_run(bool independent) noexcept;
  /// A receive begins, the `number`-th of this peer; `request` is null if it is over already.
  void add(Transport::Request request, Rank peer, std::uint32_t number, Lane lane, std::size_t bytes) noexcept {
    if (patience_s_ > 0) watch({request, peer, number, lane, bytes});
  }
  /// A request is over, or given up. Those of sends are unknown here.
  void remove(Transport::Request request) noexcept {
    if (!under_way_.empty()) take_out(request);
  }
  /// After each look at the lanes.
  void turn(bool moved) noexcept {
    if (moved)
      idle_turns_ = 0;
    else if (!under_way_.empty() && idle_turns_++ % k_turns_between == 0)
      look();
  }
  void end_run() noexcept { under_way_.clear(); }

  /// Lanes that have been seen to stall since forget().
  LaneMask late() const noexcept { return late_; }
  void forget() noexcept { late_ = 0; }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr unsigned k_turns_between = 64;
  static constexpr std::size_t k_most_watched = 128;  // receives at a time: each request that is over is looked for

  struct Receive {
    Transport::Request request;
    Rank peer;
    std::uint32_t number;
    Lane lane;
    std::size_t bytes;
  };
  /// What has come of a peer in this run: the latest message, and the latest by any other lane than that one's.
  struct Arrived {
    unsigned run = 0;
    Lane lane = -1;
    std::int64_t latest = -1, latest_elsewhere = -1;
  };

  void watch(const Receive& receive) noexcept;
  void take_out(Transport::Request request) noexcept;
  void note(const Receive& receive) noexcept;
  void look() noexcept;
  bool is_overtaken(const Receive& receive) const noexcept;

  double patience_s_;
  std::vector<Receive> under_way_;
  std::vector<Arrived> arrived_;  // [peer]
  unsigned run_ = 0, idle_turns_ = 0;
  bool independent_ = false;
  Clock::time_point idle_since_{};
  LaneMask late_ = 0;
};

}  // namespace colltopo
