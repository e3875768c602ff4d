// A chart of times by sizes, both on logarithmic scales, as SVG.
#pragma once

#include <string>
#include <vector>

namespace colltopo::prepare {

struct Curve {
  std::string name, colour;
  bool dashed = false;
  std::vector<double> values;  // [size] seconds; not above 0: none
};

/// `marks`: sizes with a vertical line each, where something else begins to serve.
std::string chart_svg(const std::vector<std::size_t>& sizes, const std::vector<Curve>& curves,
                      const std::vector<std::size_t>& marks);

/// "64", "4K", "1M".
std::string size_text(std::size_t bytes);

}  // namespace colltopo::prepare
