#include "base/numbers.h"

#include <algorithm>

namespace colltopo {

bool parse_sides(std::string_view text, std::vector<int>& sides) {
  constexpr int k_longest = 1 << 22;
  constexpr std::size_t k_most = 32;  // as TopologyBuilder::arrange()
  while (true) {
    const std::size_t end = std::min(text.find('x'), text.size());
    int side = 0;
    if (!parse_number(text.substr(0, end), side) || side < 1 || side > k_longest || sides.size() == k_most)
      return false;
    sides.push_back(side);
    if (end == text.size()) return true;
    text.remove_prefix(end + 1);
  }
}

}  // namespace colltopo
