#include "analysis/svg.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace colltopo::drawing {

namespace {

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char letter : text) {
    switch (letter) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += letter;
    }
  }
  return safe;
}

std::string attributes(const Stroke& stroke) {
  return fmt::format(R"(stroke="{}" stroke-width="{:.1f}"{})", stroke.colour, stroke.width,
                     stroke.dashed ? R"( stroke-dasharray="4 3")" : "");
}

// Control point of the quadratic curve whose middle is `bow` off the chord.
Point control(Point from, Point to, double bow) { return 0.5 * (from + to) + 2 * bow * normal(to - from); }

}  // namespace

Point operator+(Point a, Point b) { return {a.x + b.x, a.y + b.y}; }
Point operator-(Point a, Point b) { return {a.x - b.x, a.y - b.y}; }
Point operator*(double factor, Point a) { return {factor * a.x, factor * a.y}; }
double length(Point a) { return std::hypot(a.x, a.y); }
Point normal(Point a) {
  const double size = length(a);
  return size == 0 ? Point{0, 0} : Point{a.y / size, -a.x / size};
}

Svg::Svg(double width, double height)
    : body_(fmt::format(
          R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0:.0f}" height="{1:.0f}" viewBox="0 0 {0:.0f} {1:.0f}" font-family="DejaVu Sans, Arial, sans-serif">
<rect width="100%" height="100%" fill="white"/>
)",
          width, height)) {}

void Svg::line(Point from, Point to, const Stroke& stroke) {
  body_ += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", from.x, from.y, to.x,
                       to.y, attributes(stroke));
}

void Svg::curve(Point from, Point to, double bow, const Stroke& stroke) {
  if (bow == 0) return line(from, to, stroke);
  const Point middle = control(from, to, bow);
  body_ += fmt::format("<path d=\"M{:.1f} {:.1f} Q{:.1f} {:.1f} {:.1f} {:.1f}\" fill=\"none\" {}/>\n", from.x, from.y,
                       middle.x, middle.y, to.x, to.y, attributes(stroke));
}

void Svg::arrow(Point from, Point to, double bow, const Stroke& stroke) {
  const Point back = control(from, to, bow) - to;
  const double size = 5 + 1.2 * stroke.width;
  const Point along = length(back) == 0 ? Point{0, 0} : size / length(back) * back;
  const Point aside = 0.45 * size * normal(back);
  const Point neck = to + along;
  // The line ends inside the head, so that a wide one does not stick out of its tip.
  curve(from, to + 0.7 * along, bow, stroke);
  const Point left = neck + aside, right = neck - aside;
  body_ += fmt::format("<polygon points=\"{:.1f},{:.1f} {:.1f},{:.1f} {:.1f},{:.1f}\" fill=\"{}\"/>\n", to.x, to.y,
                       left.x, left.y, right.x, right.y, stroke.colour);
}

void Svg::circle(Point centre, double radius, std::string_view fill, const Stroke& stroke) {
  body_ += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" fill=\"{}\" {}/>\n", centre.x, centre.y,
                       radius, fill, attributes(stroke));
}

void Svg::rectangle(Point corner, double width, double height, std::string_view fill, const Stroke& stroke) {
  body_ += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"2\" fill=\"{}\" {}/>\n",
                       corner.x, corner.y, width, height, fill, attributes(stroke));
}

void Svg::text(Point at, std::string_view text, const Label& label) {
  constexpr std::array<std::string_view, 3> k_anchors{"start", "middle", "end"};
  body_ += fmt::format(R"(<text x="{:.1f}" y="{:.1f}" font-size="{:.0f}" fill="{}" text-anchor="{}"{}{}>{}</text>)",
                       at.x, at.y + 0.35 * label.size, label.size, label.colour,
                       k_anchors[static_cast<std::size_t>(label.anchor)], label.bold ? R"( font-weight="bold")" : "",
                       label.halo ? R"( stroke="white" stroke-width="3" paint-order="stroke")" : "", escaped(text));
  body_ += '\n';
}

std::string Svg::finish() && { return std::move(body_) + "</svg>\n"; }

std::string hue(int index, int count) {
  // Equal steps round the colour circle, darker and lighter in turn so that neighbours differ.
  const double h = 6.0 * index / std::max(count, 1);
  const double top = index % 2 == 0 ? 0.72 : 0.55;
  const auto channel = [&](double shift) {
    const double distance = std::abs(std::fmod(h + shift, 6.0) - 3.0);
    return static_cast<int>(std::lround(255 * top * std::clamp(distance - 1.0, 0.12, 1.0)));
  };
  return fmt::format("#{:02x}{:02x}{:02x}", channel(0), channel(4), channel(2));
}

std::string heat(double share) {
  struct Colour {
    double red, green, blue;
  };
  constexpr std::array<Colour, 4> k_scale{{{198, 219, 239}, {107, 174, 214}, {253, 141, 60}, {165, 15, 21}}};
  const double place = std::clamp(share, 0.0, 1.0) * (k_scale.size() - 1);
  const auto below = std::min(static_cast<std::size_t>(place), k_scale.size() - 2);
  const double part = place - static_cast<double>(below);
  const Colour &a = k_scale[below], &b = k_scale[below + 1];
  const auto mix = [&](double from, double to) { return static_cast<int>(std::lround(from + part * (to - from))); };
  return fmt::format("#{:02x}{:02x}{:02x}", mix(a.red, b.red), mix(a.green, b.green), mix(a.blue, b.blue));
}

}  // namespace colltopo::drawing
