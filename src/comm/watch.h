// When the ranks of a communicator look whether what they decided by stands on disk as they read it
// (docs/decisions/0014-live-replacement.md).
//
// Ranks must look at the same call and have no clock in common. So they count, call by call in the order of the calls:
// each is some ticks, by what is equal on all ranks, one that blocks and is left to others is one, and after so many
// they look. How many, they agree on at each look, from the time that the last ones took.
//
// A call that waits for its turn counts in that. Until then no later one counts: those that do not block take turns
// too, and those that block wait.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

namespace colltopo {

class Watch {
 public:
  /// A call's share of what is between two looks.
  static std::int32_t ticks_of(std::size_t bytes) noexcept {
    constexpr std::size_t k_bytes_per_tick = 4096, k_most = k_most_ticks;
    return static_cast<std::int32_t>(std::min(k_most, 1 + bytes / k_bytes_per_tick));
  }

  /// From now on, every `interval_s` seconds or so. `stamp`: of what was read.
  void begin(double interval_s, std::string stamp);
  void end() noexcept {
    is_on_ = false;
    counted() = k_never;
  }
  bool is_on() const noexcept { return is_on_; }
  /// After a served call, or before one that is left to others. True: the ranks look now.
  bool counts(std::int32_t ticks) noexcept {
    left_ -= ticks;
    return left_ <= 0;
  }
  /// Ticks until then; none while turns count.
  long long* left() noexcept { return &left_; }
  /// From here until take_up() turns count, and nobody else. By the thread that makes calls, while no turn is to come.
  void set_aside() noexcept {
    aside_ = std::exchange(left_, 0);
    is_aside_ = true;
  }
  bool is_aside() const noexcept { return is_aside_; }
  void take_up() noexcept {
    if (std::exchange(is_aside_, false)) left_ = aside_;
  }
  /// In its turn. True: the ranks look now.
  bool counts_in_turn(std::int32_t ticks) noexcept { return (counted() -= ticks) <= 0; }

  /// Whether the interval has passed since what stands on disk was looked at; whoever is asked looks then.
  bool is_due() const noexcept;
  /// What stands there. True: it is not what was read, and was so at the look before too, so that nobody is at work on
  /// it.
  bool saw(const std::string& stamp);
  /// What was read, after all.
  void read(std::string stamp) { read_ = std::move(stamp); }
  /// How many ticks this rank would let pass until the next look; then what the ranks agreed on.
  std::int64_t proposal() const noexcept;
  void continues(std::int64_t ticks) noexcept;

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr long long k_never = std::numeric_limits<long long>::max();
  static constexpr std::int64_t k_first_ticks = 64;
  // An agreement takes the time of a few small calls.
  static constexpr std::int32_t k_most_ticks = 1024;

  long long& counted() noexcept { return is_aside_ ? aside_ : left_; }

  long long left_ = k_never, aside_ = k_never;
  bool is_on_ = false, is_aside_ = false;
  std::int64_t between_ = k_first_ticks;  // the last look and the next
  double interval_s_ = 0;
  Clock::time_point last_{}, last_on_disk_{};
  std::string read_, before_;
};

}  // namespace colltopo
