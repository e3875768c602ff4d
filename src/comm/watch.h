// When the ranks of a communicator look whether what they decided by stands on disk as they read it
// (docs/decisions/0014-live-replacement.md).
//
// Ranks must look at the same call and have no clock in common. So they count: every call that blocks is some ticks, by
// what is equal on all ranks, one that is left to others is one, and after so many they look. How many, they agree on
// at each look, from the time that the last ones took.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

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
  void end() noexcept { left_ = k_never; }
  /// After a served call, or before one that is left to others. True: the ranks look now.
  bool counts(std::int32_t ticks) noexcept {
    left_ -= ticks;
    return left_ <= 0;
  }
  /// Ticks until then.
  long long* left() noexcept { return &left_; }

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

  long long left_ = k_never;
  std::int64_t between_ = k_first_ticks;  // the last look and the next
  double interval_s_ = 0;
  Clock::time_point last_{}, last_on_disk_{};
  std::string read_, before_;
};

}  // namespace colltopo
