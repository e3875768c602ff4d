#include "import/source.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "colltopo/topology.h"

namespace colltopo::import {

namespace {

constexpr std::string_view k_blank = " \t\r\f\v";

template <typename Number>
bool parse_all(std::string_view text, Number& value) {
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  return error == std::errc{} && rest == end;
}

bool is_bandwidth(std::string_view text, double& value) {
  return (parse_number(text, value) || parse_bandwidth(text, value)) && value > 0;
}

bool is_latency(std::string_view text, double& value) {
  return (parse_number(text, value) || parse_latency(text, value)) && value >= 0;
}

}  // namespace

Error error_at(const std::string& file, std::int64_t line, std::string_view what) {
  return Error(fmt::format("{}:{}: {}", file, line, what));
}

std::string quoted(std::string_view text) {
  constexpr std::size_t k_most = 60;
  std::string shown(text.substr(0, k_most));
  for (char& letter : shown)
    if (std::isprint(static_cast<unsigned char>(letter)) == 0) letter = '?';
  return fmt::format("'{}{}'", shown, text.size() > k_most ? "..." : "");
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(k_blank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(k_blank) - first + 1);
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return lower;
}

bool parse_whole(std::string_view text, std::int64_t& value) { return parse_all(text, value); }

bool parse_number(std::string_view text, double& value) { return parse_all(text, value) && std::isfinite(value); }

bool parse_sides(std::string_view text, std::vector<int>& sides) {
  constexpr std::int64_t k_longest = 1 << 22;
  while (true) {
    const std::size_t end = std::min(text.find('x'), text.size());
    std::int64_t side = 0;
    if (!parse_whole(text.substr(0, end), side) || side < 1 || side > k_longest) return false;
    sides.push_back(static_cast<int>(side));
    if (end == text.size()) return true;
    text.remove_prefix(end + 1);
  }
}

double Source::bandwidth(const std::string& option, double otherwise) const {
  const auto given = options.find(option);
  if (given == options.end()) return otherwise;
  double value = 0;
  if (!is_bandwidth(given->second, value))
    throw Error(fmt::format("format option {}={}; expected a bandwidth above 0, such as 100Gbps or 12.5GBps", option,
                            given->second));
  return value;
}

double Source::latency(const std::string& option, double otherwise) const {
  const auto given = options.find(option);
  if (given == options.end()) return otherwise;
  double value = 0;
  if (!is_latency(given->second, value))
    throw Error(fmt::format("format option {}={}; expected a time of 0 or more, such as 1us", option, given->second));
  return value;
}

double Source::link_bandwidth(std::string_view text, std::int64_t line) const {
  double value = 0;
  if (!is_bandwidth(text, value))
    throw error(line,
                fmt::format("bandwidth {}; expected a number above 0 of bytes per second, or one with a unit such "
                            "as 100Gbps",
                            quoted(text)));
  return value;
}

double Source::link_latency(std::string_view text, std::int64_t line) const {
  double value = 0;
  if (!is_latency(text, value))
    throw error(line, fmt::format("latency {}; expected a number of seconds, 0 or more, or one with a unit such as 1us",
                                  quoted(text)));
  return value;
}

bool TextLines::next(std::string_view& line) {
  if (rest_.empty()) return false;
  const std::size_t end = std::min(rest_.find('\n'), rest_.size());
  line = rest_.substr(0, end);
  if (line.ends_with('\r')) line.remove_suffix(1);
  rest_.remove_prefix(std::min(end + 1, rest_.size()));
  ++number_;
  return true;
}

std::string_view take_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(k_blank), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(k_blank));
  line.remove_prefix(word.size());
  return word;
}

}  // namespace colltopo::import
