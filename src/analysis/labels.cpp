#include "analysis/labels.h"

#include <algorithm>
#include <limits>

namespace colltopo::drawing {

bool overlap(const Box& a, const Box& b) {
  return a.least.x < b.most.x && b.least.x < a.most.x && a.least.y < b.most.y && b.least.y < a.most.y;
}

double text_width(std::string_view text, double size) { return 0.62 * size * static_cast<double>(text.size()); }

Box box_of(Point at, std::string_view text, double size) {
  const Point half{text_width(text, size) / 2, 0.45 * size};
  return {at - half, at + half};
}

int Labels::crossings(const Box& box, int owner) const {
  return static_cast<int>(std::count_if(lines_.begin(), lines_.end(), [&](const LinePoint& line) {
    return line.owner != owner && box.least.x < line.point.x && line.point.x < box.most.x &&
           box.least.y < line.point.y && line.point.y < box.most.y;
  }));
}

bool Labels::place(std::string_view text, double size, int owner, const std::vector<Point>& places, Point& chosen) {
  int fewest = std::numeric_limits<int>::max();
  for (const Point& at : places) {
    const Box box = box_of(at, text, size);
    if (std::any_of(taken_.begin(), taken_.end(), [&](const Box& other) { return overlap(box, other); })) continue;
    const int crossed = crossings(box, owner);
    if (crossed >= fewest) continue;
    fewest = crossed;
    chosen = at;
    if (crossed == 0) break;
  }
  if (fewest == std::numeric_limits<int>::max()) return false;
  constexpr Point k_gap{3, 0};  // so that two numbers are not read as one
  const Box box = box_of(chosen, text, size);
  keep_free({box.least - k_gap, box.most + k_gap});
  return true;
}

}  // namespace colltopo::drawing
