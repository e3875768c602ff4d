// Whole numbers out of JSON. The library converts 1e308 and -1 to any type, which is undefined or another number.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/json.h"
#include "colltopo/error.h"

namespace colltopo {

/// The value as a Number. Throws Error "NAME is VALUE; must be a whole number from LEAST to MOST".
template <class Number, class Json>
Number whole_number_of(const Json& value, std::string_view name) {
  const bool fits = value.is_number_unsigned()
                        ? std::in_range<Number>(value.template get<std::uint64_t>())
                        : value.is_number_integer() && std::in_range<Number>(value.template get<std::int64_t>());
  if (!fits)
    throw Error(fmt::format("{} is {}; must be a whole number from {} to {}", name, shown(value),
                            std::numeric_limits<Number>::min(), std::numeric_limits<Number>::max()));
  return value.template get<Number>();
}

}  // namespace colltopo
