// The race of one class of calls on one rank of a communicator.
//
// Rank 0 has the Race. After a round the ranks add up what its blocks took, rank 0 decides, and tells how the next
// round is, at which tick it begins, who serves until then, and what is believed. So nothing of it needs the same bits
// on two ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "choice/race.h"
#include "comm/agreement.h"
#include "comm/rounds.h"

namespace colltopo {

class ClassRace {
 public:
  /// Calls of the communicator, counted alike on all ranks; one may be several.
  using Tick = std::int64_t;
  static constexpr Tick k_never = std::numeric_limits<Tick>::max() / 4;

  /// `beliefs`: of the contestants, equal on all ranks. `serving`: who serves until something is known. `ends`: what
  /// serves after the first rounds serves for ever.
  ClassRace(const Agreement& agreement, Rank rank, Rank ranks, std::vector<Belief> beliefs, std::size_t serving,
            bool ends);

  /// Collective. What comes after the class's first `calls` calls, which began at a tick.
  void begin(std::size_t calls, Tick began, Tick now);
  /// Collective. After a round. `meeting`: what a meeting of the ranks takes, which is in each call that counts.
  /// `agreement_seconds`: that this took the last time; 0: not known.
  void end_round(Tick now, const std::optional<Block>& meeting, double agreement_seconds = 0);

  /// The best serves, and nothing is measured.
  bool is_waiting() const noexcept { return is_waiting_; }
  /// The tick at which the next round begins; k_never: none is to come.
  Tick wakes_at() const noexcept { return wakes_at_; }
  void wake(Tick now);

  Rounds& rounds() noexcept { return rounds_; }
  std::size_t best() const noexcept { return plan_.best; }
  std::size_t rounds_ended() const noexcept { return rounds_ended_; }
  /// Of its calls, that were measured.
  std::size_t calls_of(std::size_t contestant) const { return calls_of_[contestant]; }
  /// [contestant] unknown while it was in no round and nothing was known before.
  const std::vector<Belief>& beliefs() const noexcept { return beliefs_; }

 private:
  void tell(Tick now);
  void begin_round(Tick now);

  const Agreement& agreement_;
  Rank rank_, ranks_;
  std::vector<Belief> beliefs_;
  std::vector<std::size_t> calls_of_;  // [contestant] measured
  bool ends_;
  std::optional<Race> race_;  // rank 0
  Race::Plan plan_;
  Rounds rounds_;
  std::size_t rounds_ended_ = 0;
  bool is_waiting_ = true;
  double calls_ = 0;          // of the class until now
  double ticks_of_call_ = 1;  // of the whole communicator, between two of them
  Tick began_ = 0;            // this round or this wait
  Tick wakes_at_ = k_never;
};

}  // namespace colltopo
