// How much of a given time is left.
#pragma once

#include <algorithm>
#include <chrono>
#include <limits>

namespace colltopo {

class Deadline {
 public:
  /// That many seconds from now; infinity: never.
  explicit Deadline(double seconds) : given_(seconds) {}

  double seconds_given() const { return given_; }
  /// Never below 0: solvers take less than that for no limit at all.
  double seconds_left() const { return std::max(0.0, given_ - seconds_used()); }
  double seconds_used() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }
  bool passed() const { return seconds_used() >= given_; }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point began_ = Clock::now();
  double given_;
};

}  // namespace colltopo
