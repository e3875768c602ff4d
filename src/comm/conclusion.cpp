#include "comm/conclusion.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

namespace colltopo {

namespace {

constexpr const char* k_of_others = "fallback";
constexpr double k_no_matter = 0.02;  // logarithm of a ratio
constexpr double k_sure_errors = 2;
constexpr double k_unknown_error = 0.15;  // of a time with too few turns for one: jobs differ by as much
constexpr double k_most_times_longer = 20;

struct Timed {
  double seconds = 0, error = k_unknown_error;
};

Timed timed(const ConstantsRecord::Times& row, std::size_t bytes) {
  const auto error = row.errors.find(bytes);
  return {row.seconds.at(bytes), error == row.errors.end() ? k_unknown_error : error->second};
}

/// Of ours and of others at one size.
struct Pair {
  std::optional<Timed> ours, previous;

  double gain() const { return std::log(previous->seconds / ours->seconds); }
  double error() const { return std::hypot(ours->error, previous->error); }
  bool is_sure() const { return std::abs(gain()) >= k_sure_errors * error(); }
  bool matters() const { return std::abs(gain()) + k_sure_errors * error() > k_no_matter; }
  /// How many times as long measuring would have to take: errors shrink by the root.
  double times_longer() const {
    const double wanted = std::max(std::abs(gain()), k_no_matter) / k_sure_errors;
    return std::min(k_most_times_longer, std::pow(error() / wanted, 2));
  }
};

}  // namespace

Conclusion conclusion_of(const ConstantsRecord& record) {
  std::map<std::string, std::map<std::size_t, Pair>> all;
  for (const ConstantsRecord::Times& row : record.times)
    for (const auto& [bytes, seconds] : row.seconds) {
      Pair& pair = all[row.collective][bytes];
      std::optional<Timed>& best = row.algorithm == k_of_others ? pair.previous : pair.ours;
      if (!best || seconds < best->seconds) best = timed(row, bytes);
    }
  Conclusion found;
  double longer = 1;
  for (const auto& [collective, sizes] : all) {
    bool unsure = false, is_compared = false;
    for (const auto& [bytes, pair] : sizes) {
      if (!pair.ours || !pair.previous) continue;
      is_compared = true;
      const bool is_sure = pair.is_sure();
      if (!is_sure && pair.matters()) {
        unsure = true;
        longer = std::max(longer, pair.times_longer());
      }
      const double times = std::exp(pair.gain());
      if (times > 1 && std::pair(is_sure, times) > std::pair(found.is_sure, found.gain)) {
        found.collective = collective;
        found.bytes = bytes;
        found.gain = times;
        found.is_sure = is_sure;
      }
    }
    found.collectives += is_compared ? 1 : 0;
    found.unsure += unsure ? 1 : 0;
  }
  found.seconds_more = (longer - 1) * record.seconds;
  return found;
}

std::string text_of(const Conclusion& conclusion) {
  std::string text = conclusion.bytes == 0
                         ? "nothing is faster than without colltopo"
                         : fmt::format("{} of {} bytes {:.1f} times as fast, {}", conclusion.collective,
                                       conclusion.bytes, conclusion.gain, conclusion.is_sure ? "sure" : "not sure");
  if (conclusion.unsure == 0) return text + "; all collectives sure";
  return text + fmt::format("; {} of {} collectives not sure, {:.0f} s more would do", conclusion.unsure,
                            conclusion.collectives, std::max(1.0, std::ceil(conclusion.seconds_more)));
}

}  // namespace colltopo
