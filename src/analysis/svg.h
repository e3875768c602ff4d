// The few SVG shapes that the drawings need, with coordinates in pixels and one decimal.
#pragma once

#include <string>
#include <string_view>

namespace colltopo::drawing {

struct Point {
  double x = 0, y = 0;
};
Point operator+(Point a, Point b);
Point operator-(Point a, Point b);
Point operator*(double factor, Point a);
double length(Point a);
/// Turned a quarter to the left as seen on the screen, of length 1.
Point normal(Point a);

struct Stroke {
  std::string colour = "#667788";
  double width = 1.2;
  bool dashed = false;
};

enum class Anchor { start, middle, end };

struct Label {
  double size = 12;
  std::string colour = "#1b2733";
  Anchor anchor = Anchor::middle;
  bool bold = false;
  bool halo = false;  // a white edge, to be read on top of lines
};

class Svg {
 public:
  Svg(double width, double height);

  void line(Point from, Point to, const Stroke& stroke);
  /// A line that bows `bow` pixels to its left.
  void curve(Point from, Point to, double bow, const Stroke& stroke);
  /// With a filled head at `to`.
  void arrow(Point from, Point to, double bow, const Stroke& stroke);
  void circle(Point centre, double radius, std::string_view fill, const Stroke& stroke);
  void rectangle(Point corner, double width, double height, std::string_view fill, const Stroke& stroke);
  void text(Point at, std::string_view text, const Label& label);

  /// The document; nothing can be drawn after it.
  std::string finish() &&;

 private:
  std::string body_;
};

/// Colours that are told apart, by index; and from pale to dark for a share in 0..1.
std::string hue(int index, int count);
std::string heat(double share);

}  // namespace colltopo::drawing
