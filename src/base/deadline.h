// How much of a given time is left, and how much has passed.
#pragma once

#include <algorithm>
#include <chrono>
#include <limits>

namespace colltopo {

inline double seconds_since(std::chrono::steady_clock::time_point then) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - then).count();
}

class Deadline {
 public:
  /// That many seconds from now; infinity: never.
  explicit Deadline(double seconds) : given_(seconds) {}

  double seconds_given() const { return given_; }
  /// Never below 0: solvers take less than that for no limit at all.
  double seconds_left() const { return std::max(0.0, given_ - seconds_used()); }
  double seconds_used() const { return seconds_since(began_); }
  bool passed() const { return seconds_used() >= given_; }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point began_ = Clock::now();
  double given_;
};

}  // namespace colltopo
