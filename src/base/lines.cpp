#include "base/lines.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "base/plain.h"

namespace colltopo {

namespace {

constexpr std::string_view k_blank = " \t\r\f\v";

}  // namespace

Error error_at(const std::string& file, std::int64_t line, std::string_view what) {
  return Error(fmt::format("{}:{}: {}", file, line, what));
}

std::string short_text(std::string_view text) {
  constexpr std::size_t k_most = 60;
  const std::string_view beginning = shortened(text, k_most);
  return plain_text(beginning) + (beginning.size() < text.size() ? "..." : "");
}

std::string in_quotes(std::string_view text) { return fmt::format("'{}'", short_text(text)); }

std::string for_shell(std::string_view text) {
  std::string quoted = "'";
  for (const char letter : text) quoted += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return quoted + "'";
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

std::vector<std::string> split_at(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
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

}  // namespace colltopo
