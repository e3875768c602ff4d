#include "import/host_list.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/numbers.h"
#include "import/limits.h"

namespace colltopo::import {

namespace {

constexpr std::size_t k_most_names = Limits::k_most_listed;

class HostList {
 public:
  HostList(std::string_view expression, const Source& source, std::int64_t line)
      : expression_(expression), source_(source), line_(line) {}

  std::vector<std::string> names() {
    std::vector<std::string> all;
    std::string_view rest = expression_;
    while (true) {
      const std::size_t end = comma_outside_brackets(rest);
      const std::vector<std::string> some = names_of(trimmed(rest.substr(0, end)));
      if (all.size() + some.size() > k_most_names) refuse(fmt::format("more than {} names", k_most_names));
      all.insert(all.end(), some.begin(), some.end());
      if (end == rest.size()) return all;
      rest.remove_prefix(end + 1);
    }
  }

 private:
  [[noreturn]] void refuse(std::string_view fact) const {
    throw source_.error(
        line_, fmt::format("host list {}: {}; expected names such as node[01-16,20]", in_quotes(expression_), fact));
  }

  /// Of names that are to be made, of about so many bytes each.
  void expect_bytes(std::size_t names, std::size_t bytes_each) const {
    if (bytes_each > Limits::k_most_listed_bytes / names)
      refuse(fmt::format("{} names of {} bytes", names, bytes_each));
  }

  std::size_t comma_outside_brackets(std::string_view text) const {
    bool inside = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '[' && inside) refuse("a bracket inside a bracket");
      if (text[i] == ']' && !inside) refuse("a bracket is closed that was not opened");
      if (text[i] == '[' || text[i] == ']') inside = !inside;
      if (text[i] == ',' && !inside) return i;
    }
    if (inside) refuse("a bracket is not closed");
    return text.size();
  }

  /// Of one item of the list: text and brackets in turn.
  std::vector<std::string> names_of(std::string_view item) const {
    if (item.empty()) refuse("an empty name");
    std::vector<std::string> made{""};
    while (!item.empty()) {
      const std::size_t open = std::min(item.find('['), item.size());
      expect_bytes(made.size(), made.front().size() + open);
      for (std::string& name : made) name += item.substr(0, open);
      if (open == item.size()) break;
      const std::size_t close = item.find(']', open);
      const std::vector<std::string> numbers = numbers_of(item.substr(open + 1, close - open - 1));
      if (numbers.size() * made.size() > k_most_names) refuse(fmt::format("more than {} names", k_most_names));
      expect_bytes(numbers.size() * made.size(), made.front().size() + numbers.front().size());
      std::vector<std::string> longer;
      for (const std::string& name : made)
        for (const std::string& number : numbers) longer.push_back(name + number);
      made = std::move(longer);
      item.remove_prefix(close + 1);
    }
    return made;
  }

  /// Of what is between brackets: "0-3,12".
  std::vector<std::string> numbers_of(std::string_view ranges) const {
    std::vector<std::string> made;
    while (true) {
      const std::size_t end = std::min(ranges.find(','), ranges.size());
      const std::string_view range = ranges.substr(0, end);
      const std::size_t dash = std::min(range.find('-'), range.size());
      const std::string_view low_text = range.substr(0, dash);
      const std::string_view high_text = dash == range.size() ? low_text : range.substr(dash + 1);
      std::int64_t low = 0, high = 0;
      if (!parse_number(low_text, low) || !parse_number(high_text, high) || low < 0)
        refuse(fmt::format("{} is no number and no range", in_quotes(range)));
      if (high < low) refuse(fmt::format("range {} runs backwards", in_quotes(range)));
      if (static_cast<std::size_t>(high - low) >= k_most_names - made.size())
        refuse(fmt::format("more than {} names", k_most_names));
      expect_bytes(static_cast<std::size_t>(high - low) + 1, low_text.size());
      for (std::int64_t number = low; number <= high; ++number)
        made.push_back(fmt::format("{:0{}}", number, low_text.size()));
      if (end == ranges.size()) return made;
      ranges.remove_prefix(end + 1);
    }
  }

  std::string_view expression_;
  const Source& source_;
  std::int64_t line_;
};

}  // namespace

std::vector<std::string> expand_host_list(std::string_view expression, const Source& source, std::int64_t line) {
  return HostList(expression, source, line).names();
}

}  // namespace colltopo::import
