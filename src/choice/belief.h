// What is believed of the time that a row takes in a class of calls: a normal distribution of its logarithm.
#pragma once

namespace colltopo {

struct Belief {
  double log_seconds = 0;
  double variance = k_nothing_known;  // of that

  /// Two independent ones of the same row.
  Belief merged(const Belief& other) const {
    const double weight = 1 / variance, other_weight = 1 / other.variance;
    return {(log_seconds * weight + other.log_seconds * other_weight) / (weight + other_weight),
            1 / (weight + other_weight)};
  }
  /// The same, `times` as old: what was seen counts for as much less.
  Belief aged(double times) const { return {log_seconds, variance * times}; }
  bool is_known() const { return variance < k_nothing_known; }

  static constexpr double k_nothing_known = 1e6;
};

}  // namespace colltopo
