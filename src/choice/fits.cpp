#include "choice/fits.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace colltopo {

namespace {

constexpr double k_most_off = 8;  // what is off by more was disturbed, or is not what was measured
constexpr double k_apart = 2;     // from what the collective's algorithms have in common: the rest is noise
// The same of a previous component, which may do something else than what it is priced as.
constexpr double k_previous_apart = 4;
constexpr double k_fade = 8;        // octaves beyond the last measured size, after which half of a factor is left
constexpr std::size_t k_least = 1;  // byte: 0 bytes are as far off as one

// A logarithm that is linear within an octave.
double octave_of(std::size_t bytes) {
  const std::size_t size = std::max(bytes, k_least), power = std::bit_floor(size);
  return static_cast<double>(std::bit_width(power)) + static_cast<double>(size) / static_cast<double>(power) - 1;
}

// 1 of nothing.
double median(std::vector<double> values) {
  if (values.empty()) return 1;
  std::ranges::sort(values);
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

}  // namespace

Fits::Fits(Collective collective, std::span<const MeasuredRow> rows, const Model& model) {
  for (const MeasuredRow& row : rows) {
    if (row.collective != collective) continue;
    Fitted fitted{&row, {}};
    for (const MeasuredRow::Time& time : row.times) {
      const std::optional<double> seconds = model(row, time.bytes);
      if (!seconds || *seconds <= 0) continue;
      fitted.points.push_back({octave_of(time.bytes), std::clamp(time.seconds / *seconds, 1 / k_most_off, k_most_off)});
    }
    for (std::size_t i = 1; i + 1 < fitted.points.size(); ++i) {
      std::vector<Point> others = fitted.points;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
      errors_.push_back(std::abs(between(others, fitted.points[i].octave) / fitted.points[i].factor - 1));
    }
    auto& those = row.algorithm == nullptr ? previous_ : row.values.all().empty() ? rows_ : variants_;
    if (!fitted.points.empty()) those.push_back(std::move(fitted));
  }
  for (const Fitted& fitted : rows_.empty() ? previous_ : rows_) {
    first_ = std::min(first_, fitted.points.front().octave);
    last_ = std::max(last_, fitted.points.back().octave);
  }
}

bool Fits::covers(const Fitted& row, double octave) const {
  const double first = row.points.front().octave, last = row.points.back().octave;
  return (octave >= first || first <= first_) && (octave <= last || last >= last_);
}

const Fits::Fitted* Fits::row_of(const Algorithm* algorithm, const OptionValues& values, std::size_t bytes) const {
  for (const Fitted& variant : variants_)
    if (variant.measured->algorithm == algorithm && variant.measured->values == values &&
        covers(variant, octave_of(bytes)))
      return &variant;
  const auto row = std::ranges::find(rows_, algorithm, algorithm_of);
  return row == rows_.end() ? nullptr : &*row;
}

double Fits::factor(const Algorithm* algorithm, const OptionValues& values, std::size_t bytes) const {
  const Fitted* const row = row_of(algorithm, values, bytes);
  return row == nullptr ? common(bytes) : near_the_others(*row, bytes, k_apart);
}

double Fits::error(const Algorithm* algorithm, const OptionValues& values, std::size_t bytes) const {
  const Fitted* const row = row_of(algorithm, values, bytes);
  return row == nullptr ? 1 : error_between(row->measured->times, bytes);
}

bool Fits::has(const Algorithm* algorithm) const {
  return std::ranges::find(rows_, algorithm, algorithm_of) != rows_.end();
}

std::optional<double> Fits::factor_of_previous(std::string_view name, std::size_t bytes) const {
  const auto row = std::ranges::find(previous_, name,
                                     [](const Fitted& fitted) { return std::string_view(fitted.measured->previous); });
  if (row == previous_.end()) return std::nullopt;
  return near_the_others(*row, bytes, k_previous_apart);
}

double Fits::near_the_others(const Fitted& row, std::size_t bytes, double apart) const {
  const double shared = common(bytes);
  if (!covers(row, octave_of(bytes))) return shared;
  const double own = between(row.points, octave_of(bytes));
  return std::clamp(own, shared / apart, shared * apart);
}

double Fits::common(std::size_t bytes) const {
  std::vector<double> factors;
  const std::vector<Fitted>& rows = rows_.empty() ? previous_ : rows_;
  factors.reserve(rows.size());
  for (const Fitted& row : rows)
    if (covers(row, octave_of(bytes))) factors.push_back(between(row.points, octave_of(bytes)));
  return median(std::move(factors));
}

double Fits::between(std::span<const Point> points, double octave) {
  const auto after = std::ranges::find_if(points, [&](const Point& point) { return point.octave >= octave; });
  if (after == points.begin()) return points.front().factor;
  if (after == points.end()) {
    const Point& last = points.back();
    return 1 + (last.factor - 1) * k_fade / (k_fade + octave - last.octave);
  }
  const Point &low = *(after - 1), &high = *after;
  return low.factor + (high.factor - low.factor) * (octave - low.octave) / (high.octave - low.octave);
}

double seconds_between(std::span<const MeasuredRow::Time> times, std::size_t bytes) {
  if (times.size() == 1 || bytes <= times.front().bytes) return times.front().seconds;
  const auto last = times.end() - 1;
  const auto high = std::min(std::ranges::find_if(times, [&](const auto& time) { return time.bytes >= bytes; }), last);
  const MeasuredRow::Time &from = *(high - 1), &to = *high;
  const double seconds_per_byte = (to.seconds - from.seconds) / static_cast<double>(to.bytes - from.bytes);
  const double more = seconds_per_byte * (static_cast<double>(bytes) - static_cast<double>(to.bytes));
  return bytes > to.bytes ? to.seconds + std::max(0.0, more) : to.seconds + more;
}

double error_between(std::span<const MeasuredRow::Time> times, std::size_t bytes) {
  const auto high = std::ranges::find_if(times, [&](const auto& time) { return time.bytes >= bytes; });
  if (high == times.end() || (high == times.begin() && high->bytes > bytes)) return 1;
  return high->bytes == bytes ? high->error : std::max((high - 1)->error, high->error);
}

}  // namespace colltopo
