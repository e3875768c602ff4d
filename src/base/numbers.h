// Numbers out of text, the whole text or none of it.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <vector>

namespace colltopo {

/// A number without anything before or after it; neither infinite nor NaN. False, and `value` unchanged, when the text
/// is something else or the number does not fit.
template <typename Number>
bool parse_number(std::string_view text, Number& value) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || rest != end) return false;
  if constexpr (std::is_floating_point_v<Number>)
    if (!std::isfinite(number)) return false;
  value = number;
  return true;
}

/// "4x4" to {4, 4}; each from 1 to 2^22.
bool parse_sides(std::string_view text, std::vector<int>& sides);

}  // namespace colltopo
