#include "prepare/chart.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "analysis/svg.h"
#include "colltopo/topology.h"

namespace colltopo::prepare {

namespace {

using drawing::Anchor;
using drawing::Label;
using drawing::Point;
using drawing::Stroke;
using drawing::Svg;

constexpr double k_width = 640, k_height = 330, k_left = 70, k_right = 180, k_top = 12, k_bottom = 34;

class Scales {
 public:
  Scales(const std::vector<std::size_t>& sizes, const std::vector<Curve>& curves)
      : low_x_(std::log2(std::max<double>(1, static_cast<double>(sizes.front())))),
        high_x_(std::max(low_x_ + 1, std::log2(std::max<double>(1, static_cast<double>(sizes.back()))))) {
    for (const Curve& curve : curves)
      for (const double value : curve.values)
        if (value > 0) low_ = std::min(low_, std::log10(value)), high_ = std::max(high_, std::log10(value));
    if (low_ > high_) low_ = -6, high_ = -5;
    low_ = std::floor(low_);
    high_ = std::max(low_ + 1, std::ceil(high_));
  }
  double x(double bytes) const {
    const double share = (std::log2(std::max(1.0, bytes)) - low_x_) / (high_x_ - low_x_);
    return k_left + std::clamp(share, 0.0, 1.0) * (k_width - k_left - k_right);
  }
  double y(double seconds) const {
    return k_height - k_bottom - (std::log10(seconds) - low_) / (high_ - low_) * (k_height - k_top - k_bottom);
  }
  int first_decade() const { return static_cast<int>(low_); }
  int last_decade() const { return static_cast<int>(high_); }

 private:
  double low_x_, high_x_, low_ = 1e9, high_ = -1e9;
};

void draw_axes(Svg& svg, const Scales& scales, const std::vector<std::size_t>& sizes) {
  const Stroke grid{"#dde3e8", 0.8};
  for (int decade = scales.first_decade(); decade <= scales.last_decade(); ++decade) {
    const double seconds = std::pow(10.0, decade), y = scales.y(seconds);
    svg.line({k_left, y}, {k_width - k_right, y}, grid);
    svg.text({k_left - 6, y}, seconds_text(seconds), {11, "#445", Anchor::end});
  }
  double last = -1e9;
  for (const std::size_t bytes : sizes) {
    const double x = scales.x(static_cast<double>(bytes));
    if (x - last < 36) continue;
    last = x;
    svg.line({x, k_height - k_bottom}, {x, k_height - k_bottom + 4}, {"#99a", 1});
    svg.text({x, k_height - k_bottom + 14}, size_text(bytes), {11, "#445"});
  }
}

void draw_curve(Svg& svg, const Scales& scales, const std::vector<std::size_t>& sizes, const Curve& curve) {
  const Stroke stroke{curve.colour, 2, curve.dashed};
  for (std::size_t i = 1; i < sizes.size(); ++i) {
    if (curve.values[i - 1] <= 0 || curve.values[i] <= 0) continue;
    svg.line({scales.x(static_cast<double>(sizes[i - 1])), scales.y(curve.values[i - 1])},
             {scales.x(static_cast<double>(sizes[i])), scales.y(curve.values[i])}, stroke);
  }
}

}  // namespace

std::string size_text(std::size_t bytes) {
  constexpr std::string_view k_units = "KMG";
  std::size_t unit = 0, value = bytes;
  while (value >= 1024 && value % 1024 == 0 && unit < k_units.size()) value /= 1024, ++unit;
  return unit == 0 ? fmt::format("{}", value) : fmt::format("{}{}", value, k_units[unit - 1]);
}

std::string chart_svg(const std::vector<std::size_t>& sizes, const std::vector<Curve>& curves,
                      const std::vector<std::size_t>& marks) {
  Svg svg(k_width, k_height);
  const Scales scales(sizes, curves);
  draw_axes(svg, scales, sizes);
  for (const std::size_t mark : marks) {
    const double x = scales.x(static_cast<double>(mark));
    svg.line({x, k_top}, {x, k_height - k_bottom}, {"#b9c2cc", 1, true});
  }
  double y = k_top + 10;
  for (const Curve& curve : curves) {
    draw_curve(svg, scales, sizes, curve);
    svg.line({k_width - k_right + 10, y}, {k_width - k_right + 30, y}, {curve.colour, 2, curve.dashed});
    svg.text({k_width - k_right + 36, y}, curve.name, {11, "#1b2733", Anchor::start});
    y += 18;
  }
  return std::move(svg).finish();
}

}  // namespace colltopo::prepare
