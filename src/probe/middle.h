// What stands for times of which some are disturbed.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

namespace colltopo::probe {

/// Of an even number the one above the middle.
inline double median_of(std::vector<double> seconds) {
  std::ranges::sort(seconds);
  return seconds[seconds.size() / 2];
}

/// The mean of what lies between the quartiles; of three or more the least and the largest are out.
inline double middle_half_of(std::vector<double> seconds) {
  std::ranges::sort(seconds);
  const std::size_t out = seconds.size() < 3 ? 0 : std::max<std::size_t>(1, seconds.size() / 4);
  const std::span<const double> middle = std::span(seconds).subspan(out, seconds.size() - 2 * out);
  return std::accumulate(middle.begin(), middle.end(), 0.0) / static_cast<double>(middle.size());
}

/// Of the mean. Nothing: so few do not tell.
inline std::optional<double> standard_error_of(std::span<const double> values) {
  constexpr std::size_t k_least = 4;
  const auto n = static_cast<double>(values.size());
  if (values.size() < k_least) return std::nullopt;
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / (n - 1) / n);
}

}  // namespace colltopo::probe
