#include "choice/fits.h"

#include <algorithm>
#include <cmath>

namespace colltopo {

namespace {

const double k_most = std::log(8);   // what is off by more was disturbed, or is not what was measured
const double k_apart = std::log(2);  // from what the collective's algorithms have in common: the rest is noise

double octave_of(std::size_t bytes) { return std::log2(static_cast<double>(std::max<std::size_t>(bytes, 1))); }

// 0 of nothing.
double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

}  // namespace

Fits::Fits(std::span<const MeasuredRow> rows, const Model& model) {
  for (const MeasuredRow& row : rows) {
    Fitted fitted{row.collective, row.algorithm, {}};
    for (const MeasuredRow::Time& time : row.times) {
      const std::optional<double> seconds = model(row, time.bytes);
      if (!seconds || *seconds <= 0) continue;
      fitted.points.push_back({octave_of(time.bytes), std::clamp(std::log(time.seconds / *seconds), -k_most, k_most)});
    }
    if (!fitted.points.empty()) rows_.push_back(std::move(fitted));
  }
  for (const Fitted& row : rows_) {
    for (std::size_t i = 1; i + 1 < row.points.size(); ++i) {
      std::vector<Point> others = row.points;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
      errors_.push_back(std::abs(std::exp(between(others, row.points[i].octave) - row.points[i].factor) - 1));
    }
  }
  std::ranges::sort(errors_);
}

double Fits::factor(Collective collective, const Algorithm* algorithm, std::size_t bytes) const {
  const double octave = octave_of(bytes), shared = common(collective, octave);
  for (const Fitted& row : rows_) {
    if (row.collective != collective || row.algorithm != algorithm) continue;
    return std::exp(std::clamp(between(row.points, octave), shared - k_apart, shared + k_apart));
  }
  return std::exp(shared);
}

double Fits::between(std::span<const Point> points, double octave) {
  const auto after = std::ranges::find_if(points, [&](const Point& point) { return point.octave >= octave; });
  if (after == points.begin()) return points.front().factor;
  if (after == points.end()) return points.back().factor;
  const Point &low = *(after - 1), &high = *after;
  return low.factor + (high.factor - low.factor) * (octave - low.octave) / (high.octave - low.octave);
}

double Fits::common(Collective collective, double octave) const {
  std::vector<double> factors;
  const bool known = std::ranges::any_of(rows_, [&](const Fitted& row) { return row.collective == collective; });
  for (const Fitted& row : rows_)
    if (!known || row.collective == collective) factors.push_back(between(row.points, octave));
  return median(std::move(factors));
}

std::optional<double> Fits::error() const {
  if (errors_.empty()) return std::nullopt;
  return errors_[errors_.size() / 2];
}

}  // namespace colltopo
