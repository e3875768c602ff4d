// Labels that do not cover each other: every label has places where it may stand, and takes the one that is least in
// the way.
#pragma once

#include <string>
#include <vector>

#include "analysis/svg.h"

namespace colltopo::drawing {

struct Box {
  Point least, most;
};
bool overlap(const Box& a, const Box& b);

/// How wide a text is, nearly: fonts differ.
double text_width(std::string_view text, double size);
/// What a text covers that is centred on `at`.
Box box_of(Point at, std::string_view text, double size);

class Labels {
 public:
  /// Nothing may stand here.
  void keep_free(const Box& box) { taken_.push_back(box); }
  /// A line runs through here: labels of others rather stand elsewhere. `owner` tells lines apart.
  void line_at(Point point, int owner) { lines_.push_back({point, owner}); }

  /// The place for a text among `places`, best liked first, and from then on taken; false where there is none.
  bool place(std::string_view text, double size, int owner, const std::vector<Point>& places, Point& chosen);

 private:
  struct LinePoint {
    Point point;
    int owner = 0;
  };
  int crossings(const Box& box, int owner) const;

  std::vector<Box> taken_;
  std::vector<LinePoint> lines_;
};

}  // namespace colltopo::drawing
