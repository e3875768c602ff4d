#include "choice/fits.h"

#include <algorithm>
#include <cmath>

namespace colltopo {

namespace {

constexpr double k_most = 8;   // what is off by more was disturbed, or is not what was measured
constexpr double k_apart = 2;  // times what the collective's algorithms have in common: the rest is noise

double factor(double measured, double predicted) {
  return predicted > 0 ? std::clamp(measured / predicted, 1 / k_most, k_most) : 1;
}

// 1 of nothing; of an even number the geometric mean of the two in the middle.
double median(std::vector<double> factors) {
  if (factors.empty()) return 1;
  std::ranges::sort(factors);
  return std::sqrt(factors[(factors.size() - 1) / 2] * factors[factors.size() / 2]);
}

}  // namespace

double Fit::seconds(double by_model, double without_bytes) const {
  return constant * without_bytes + bytes * std::max(0.0, by_model - without_bytes);
}

Fits::Fits(std::span<const MeasuredRow> rows, const Model& model) {
  for (const MeasuredRow& row : rows) {
    if (row.times.empty()) continue;
    const MeasuredRow::Time &first = row.times.front(), &last = row.times.back();
    const auto small = model(row, first.bytes), large = model(row, last.bytes);
    if (!small || !large) continue;
    Fit fit;
    fit.constant = factor(first.seconds, small->seconds);
    fit.bytes = row.times.size() < 2
                    ? fit.constant
                    : factor(last.seconds - fit.constant * large->without_bytes, large->seconds - large->without_bytes);
    rows_.push_back({row.collective, row.algorithm, fit});
  }
  std::vector<Fit> nearer;
  for (const Fitted& one : rows_) {
    const Fit common = common_of(one.collective);
    nearer.push_back({std::clamp(one.fit.constant, common.constant / k_apart, common.constant * k_apart),
                      std::clamp(one.fit.bytes, common.bytes / k_apart, common.bytes * k_apart)});
  }
  for (std::size_t i = 0; i < rows_.size(); ++i) rows_[i].fit = nearer[i];
  for (const MeasuredRow& row : rows) {
    for (std::size_t i = 1; i + 1 < row.times.size(); ++i) {
      const auto by_model = model(row, row.times[i].bytes);
      if (!by_model) continue;
      const double fitted = of(row.collective, row.algorithm).seconds(by_model->seconds, by_model->without_bytes);
      errors_.push_back(std::abs(fitted / row.times[i].seconds - 1));
    }
  }
  std::ranges::sort(errors_);
}

Fit Fits::of(Collective collective, const Algorithm* algorithm) const {
  for (const Fitted& one : rows_)
    if (one.collective == collective && one.algorithm == algorithm) return one.fit;
  return common_of(collective);
}

Fit Fits::common_of(Collective collective) const {
  std::vector<double> constant, bytes;
  const bool known = std::ranges::any_of(rows_, [&](const Fitted& one) { return one.collective == collective; });
  for (const Fitted& one : rows_) {
    if (known && one.collective != collective) continue;
    constant.push_back(one.fit.constant);
    bytes.push_back(one.fit.bytes);
  }
  return {median(constant), median(bytes)};
}

std::optional<double> Fits::error() const {
  if (errors_.empty()) return std::nullopt;
  return errors_[errors_.size() / 2];
}

}  // namespace colltopo
