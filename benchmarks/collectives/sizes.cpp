#include "sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <stdexcept>

namespace colltopo::bench {

std::size_t size_from(std::string_view text) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  int shift = 0;
  if (!unit.empty()) {
    constexpr std::string_view units = "KMG";
    const char letter = unit.front() == 'k' ? 'K' : unit.front();
    if (const auto place = units.find(letter); place != std::string_view::npos) {
      shift = 10 * (static_cast<int>(place) + 1);
      unit.remove_prefix(1);
    }
    if (unit == "B" || unit == "iB") unit = {};
  }
  const bool overflows = number > (std::numeric_limits<std::size_t>::max() >> shift);
  if (error != std::errc{} || !unit.empty() || number == 0 || overflows)
    throw std::invalid_argument(
        fmt::format("\"{}\" is not a size: expected a number above 0 with K, M or G, as 4M", text));
  return number << shift;
}

std::vector<std::size_t> sizes_from(std::string_view text) {
  std::vector<std::size_t> sizes;
  for (const std::string& part : parts_between_commas(text)) {
    const auto colon = part.find(':');
    const std::size_t first = size_from(std::string_view(part).substr(0, colon));
    const std::size_t last = colon == std::string::npos ? first : size_from(std::string_view(part).substr(colon + 1));
    if (last < first) throw std::invalid_argument(fmt::format("\"{}\" ends below its beginning", part));
    for (std::size_t size = first;; size *= 2) {
      sizes.push_back(size);
      if (size > last / 2) break;
    }
  }
  return sizes;
}

std::string size_text(std::size_t bytes) {
  constexpr std::string_view units = "GMK";
  for (std::size_t place = 0; place < units.size(); ++place) {
    const std::size_t unit = std::size_t{1} << (10 * (units.size() - place));
    if (bytes >= unit && bytes % unit == 0) return fmt::format("{}{}", bytes / unit, units[place]);
  }
  return fmt::format("{}", bytes);
}

std::vector<std::string> parts_between_commas(std::string_view text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    if (end == begin) throw std::invalid_argument(fmt::format("\"{}\" has an empty entry", text));
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

}  // namespace colltopo::bench
