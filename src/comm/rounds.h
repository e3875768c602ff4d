// The rounds of a race as one rank sees them: which contestant serves the next call of a class, and what its calls
// took.
//
// Nothing here is communicated. Turns follow from a Race::Plan, which all ranks have alike, and from the number of
// calls. A block's first call is not counted: it makes a plan, and ends what the block before it left under way.
#pragma once

#include <cstddef>
#include <vector>

#include "choice/race.h"

namespace colltopo {

class Rounds {
 public:
  struct Turn {
    std::size_t contestant = 0;
    bool counts = false;
  };

  /// From now on the plan's order and number of calls, of which there is at least one that counts.
  void begin(const Race::Plan& plan);
  /// No call is left in this round.
  bool is_over() const noexcept { return place_ == order_.size() * block_calls_; }
  Turn turn() const { return {order_[place_ / block_calls_], place_ % block_calls_ > 0}; }
  /// Calls of this round so far.
  std::size_t place() const noexcept { return place_; }
  std::size_t block_calls() const noexcept { return block_calls_; }
  void advance() noexcept { ++place_; }
  /// What the call at a place took.
  void add(std::size_t place, double seconds) noexcept;
  /// In the plan's order. A block without times, as where calls failed, took k_no_time.
  std::vector<Block> blocks() const;

  static constexpr double k_least_time = 1e-9, k_no_time = 1000;  // seconds

 private:
  std::vector<std::size_t> order_;
  std::size_t block_calls_ = 1, place_ = 0;
  std::vector<std::vector<double>> times_;  // [block]
};

}  // namespace colltopo
