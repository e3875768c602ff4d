// Loads of links in a picture of the network: colour and width by load per bandwidth, numbers where there is room, and
// a scale. What has more links than can be told apart is drawn as a curve of all of them, busiest first.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "analysis/labels.h"
#include "analysis/picture.h"
#include "colltopo/draw.h"

namespace colltopo {

namespace drawing {

namespace {

constexpr double k_number = 10;           // size of a load's number
constexpr std::size_t k_few_links = 120;  // that get numbers and wide arrows

/// Three digits are enough beside an arrow; powers of ten are not read at a glance.
std::string number_text(double load) {
  return load < 999.5 ? fmt::format("{:.3g}", load) : fmt::format("{:.0f}", load);
}

/// One direction of a cable, which keeps to the left of it, so both are seen.
struct Arrow {
  Point from, to;
  double bow = 0;

  Point at(double part) const {
    const Point control = 0.5 * (from + to) + 2 * bow * normal(to - from);
    return (1 - part) * (1 - part) * from + 2 * part * (1 - part) * control + part * part * to;
  }
  /// To the left of it.
  Point aside(double part) const { return normal(at(part + 0.02) - at(part - 0.02)); }
};

Arrow arrow_of(const Topology& topology, const Picture& picture, const Link& link, bool few) {
  const Point from = picture.place(link.tail), to = picture.place(link.head);
  const Point unit = 1 / std::max(1.0, length(to - from)) * (to - from);
  const Point aside = (few ? 3.5 : 2.2) * normal(to - from);
  double bow = bow_of(topology, picture, link.tail, link.head);
  if (bow != 0 && link.tail > link.head) bow = -bow;
  return {from + k_radius * unit + aside, to - (k_radius + 2) * unit + aside, bow};
}

/// Beside the arrow, at its middle or before and behind it, on the left and then on the right.
std::vector<Point> places_beside(const Arrow& arrow, double far) {
  std::vector<Point> places;
  for (const double side : {1.0, -1.0})
    for (const double part : {0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74, 0.18})
      places.push_back(arrow.at(part) + side * far * arrow.aside(part));
  return places;
}

void draw_numbers(Svg& svg, const Topology& topology, const Picture& picture, const std::vector<Arrow>& arrows,
                  const std::vector<double>& loads, const LoadScale& scale) {
  Labels labels;
  for (NodeId node = 0; node < topology.nodes(); ++node) {
    const Point corner{k_radius + 1, k_radius + 1};
    labels.keep_free({picture.place(node) - corner, picture.place(node) + corner});
  }
  for (std::size_t i = 0; i < arrows.size(); ++i) {
    const int points = std::max(8, static_cast<int>(length(arrows[i].to - arrows[i].from) / 5));
    for (int k = 0; k <= points; ++k)
      labels.line_at(arrows[i].at(static_cast<double>(k) / points), static_cast<int>(i));
  }
  for (std::size_t i = 0; i < arrows.size(); ++i) {
    if (loads[i] == 0) continue;
    const std::string text = number_text(loads[i] / scale.unit_size);
    const double far = 4.5 + text_width(text, k_number) / 2 * std::abs(arrows[i].aside(0.5).x) + 0.4 * k_number;
    Point at;
    if (labels.place(text, k_number, static_cast<int>(i), places_beside(arrows[i], far), at))
      svg.text(at, text, {.size = k_number, .halo = true});
  }
}

void draw_scale(Svg& svg, const Picture& picture, const std::string& text) {
  constexpr double k_left = 24, k_bar = 150;
  const double y = picture.height - 40;
  for (int i = 0; i < 75; ++i) svg.rectangle({k_left + 2.0 * i, y - 6}, 2.5, 12, heat(i / 74.0), {"none", 0, false});
  for (const int percent : {0, 50, 100}) {
    const double x = k_left + k_bar * percent / 100;
    svg.text({x, y + 15}, fmt::format("{}%", percent),
             {.size = 10, .colour = "#445566", .anchor = percent == 0 ? Anchor::start : Anchor::middle});
  }
  svg.text({k_left + k_bar + 22, y}, text, {.size = 11, .anchor = Anchor::start});
  svg.text({k_left + k_bar + 22, y + 15}, "colour and width: load per bandwidth",
           {.size = 10, .colour = "#445566", .anchor = Anchor::start});
}

}  // namespace

std::vector<double> shares_of(const Topology& topology, const std::vector<double>& loads, double darkest) {
  std::vector<double> shares(loads.size());
  double most = 0;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    shares[i] = loads[i] / topology.links()[i].bandwidth;
    most = std::max(most, shares[i]);
  }
  if (darkest > 0) most = darkest / topology.slowest_bandwidth();
  if (most > 0)
    for (double& share : shares) share /= most;
  return shares;
}

std::string legend_text(const Topology& topology, const std::vector<double>& loads, const LoadScale& scale) {
  const std::vector<double> shares = shares_of(topology, loads, 0);
  const auto busiest = std::max_element(shares.begin(), shares.end()) - shares.begin();
  if (shares.empty() || shares[static_cast<std::size_t>(busiest)] == 0) return "no link carries anything";
  const double load = loads[static_cast<std::size_t>(busiest)] / scale.unit_size;
  std::string text = fmt::format("busiest: {} {} ({})", number_text(load), scale.unit,
                                 topology.link_name(static_cast<LinkId>(busiest)));
  if (scale.darkest > 0) text += fmt::format("; 100%: {}", number_text(scale.darkest / scale.unit_size));
  return text;
}

void draw_loads(Svg& svg, const Topology& topology, const Picture& picture, const std::vector<double>& loads,
                const LoadScale& scale) {
  const std::vector<double> shares = shares_of(topology, loads, scale.darkest);
  const bool few = loads.size() <= k_few_links;
  std::vector<Arrow> arrows;
  std::vector<std::size_t> order(loads.size());
  std::iota(order.begin(), order.end(), 0);
  // The busiest are drawn last, on top of others.
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return shares[a] < shares[b]; });
  for (const Link& link : topology.links()) arrows.push_back(arrow_of(topology, picture, link, few));
  for (const std::size_t i : order) {
    const Stroke stroke{loads[i] == 0 ? "#dde3ea" : heat(shares[i]),
                        loads[i] == 0 ? 1 : 1.1 + (few ? 3.5 : 1.2) * std::min(shares[i], 1.0)};
    svg.arrow(arrows[i].from, arrows[i].to, arrows[i].bow, stroke);
  }
  if (few) draw_numbers(svg, topology, picture, arrows, loads, scale);
  draw_scale(svg, picture, legend_text(topology, loads, scale));
}

}  // namespace drawing

using namespace drawing;

std::string load_profile_svg(const Topology& topology, const std::vector<double>& loads, const std::string& title,
                             const LoadScale& scale) {
  constexpr double k_left = 76, k_top = 84, k_wide = 640, k_high = 260;
  std::vector<double> shares = shares_of(topology, loads, scale.darkest);
  std::sort(shares.begin(), shares.end(), std::greater<>());
  const std::string legend = legend_text(topology, loads, scale);
  Svg svg(std::max({k_left + k_wide + 40, 48 + text_width(title, 16), 48 + text_width(legend, 11)}),
          k_top + k_high + 84);
  svg.text({24, 24}, title, {.size = 15, .anchor = Anchor::start, .bold = true});
  const double mean =
      std::accumulate(shares.begin(), shares.end(), 0.0) / static_cast<double>(std::max<std::size_t>(1, shares.size()));
  svg.text({24, 44},
           fmt::format("{} links, too many to draw one by one; all of them, busiest first; mean {:.1f}% of the busiest",
                       shares.size(), 100 * mean),
           {.size = 11, .colour = "#556677", .anchor = Anchor::start});
  const auto y_of = [&](double share) { return k_top + k_high * (1 - std::min(share, 1.0)); };
  for (const int percent : {0, 25, 50, 75, 100}) {
    svg.line({k_left, y_of(percent / 100.0)}, {k_left + k_wide, y_of(percent / 100.0)}, {"#dde3ea", 1, false});
    svg.text({k_left - 8, y_of(percent / 100.0)}, fmt::format("{}%", percent), {.size = 11, .anchor = Anchor::end});
  }
  // As many bars as are told apart, each the busiest of its links.
  const std::size_t bars = std::min<std::size_t>(320, shares.size());
  for (std::size_t bar = 0; bar < bars; ++bar) {
    const double share = shares[bar * shares.size() / bars];
    const double wide = k_wide / static_cast<double>(bars);
    svg.rectangle({k_left + wide * static_cast<double>(bar), y_of(share)}, wide, k_top + k_high - y_of(share),
                  heat(share), {"none", 0, false});
  }
  for (const int percent : {0, 25, 50, 75, 100})
    svg.text({k_left + k_wide * percent / 100, k_top + k_high + 16}, fmt::format("{}%", percent), {.size = 11});
  svg.text({k_left + k_wide / 2, k_top + k_high + 34}, "of all links", {.size = 11, .colour = "#445566"});
  svg.text({24, k_top + k_high + 60}, "load per bandwidth; " + legend, {.size = 11, .anchor = Anchor::start});
  return std::move(svg).finish();
}

}  // namespace colltopo
