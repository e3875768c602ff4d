// What stands for times of which some are disturbed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
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

}  // namespace colltopo::probe
