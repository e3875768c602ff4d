// Why an algorithm cannot serve a shape: the value that is wrong and what is allowed, in words that are alike
// everywhere.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "colltopo/shape.h"

namespace colltopo {

/// "" when `radix` is a digit base for `size` members: 2 .. size (2 for fewer than 2).
inline std::string refusal_of_radix(std::string_view name, int radix, Rank size) {
  const int most = std::max(2, static_cast<int>(size));
  if (radix >= 2 && radix <= most) return "";
  return fmt::format("{} {} is not in 2..{}", name, radix, most);
}

inline bool power_of_two(Rank ranks) { return (ranks & (ranks - 1)) == 0; }

}  // namespace colltopo
