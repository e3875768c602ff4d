#include "base/json.h"

#include <algorithm>

#include <fmt/format.h>

namespace colltopo::json_parts {

Error syntax_error(const std::string& file, std::int64_t line, std::string_view what, std::string_view expected) {
  // "[json.exception.parse_error.101] parse error at line 3, column 5: syntax error ...": the part after the place is
  // for people; "[json.exception.out_of_range.406] number overflow ..." has none.
  const std::size_t place = what.find(": "), name = what.find("] ");
  const std::size_t after = place != std::string_view::npos ? place : name;
  if (after != std::string_view::npos) what.remove_prefix(after + 2);
  // It quotes the last token whole, which may be the file.
  constexpr std::string_view k_token = "last read: '";
  constexpr std::size_t k_long = 240;
  std::string fact(what);
  if (const std::size_t token = what.find(k_token); what.size() > k_long && token != std::string_view::npos)
    fact =
        fmt::format("{}{}", what.substr(0, token + k_token.size() - 1), in_quotes(what.substr(token + k_token.size())));
  return error_at(file, line, fmt::format("{}; expected {}", fact, expected));
}

void OpenObjects::opens() {
  open_.emplace_back();
  if (open_.size() > static_cast<std::size_t>(JsonLimits::k_deepest))
    throw error_at(file_, line_,
                   fmt::format("lists and objects are more than {} deep; expected fewer", JsonLimits::k_deepest));
}

void OpenObjects::has_key(const std::string& key) {
  constexpr std::size_t k_few = 16;
  Keys& keys = open_.back();
  if (std::ranges::find(keys.few, key) != keys.few.end() || keys.others.contains(key))
    throw error_at(file_, line_, fmt::format("key {} twice; expected it once", in_quotes(key)));
  if (keys.few.size() < k_few)
    keys.few.push_back(key);
  else
    keys.others.insert(key);
  if (keys.few.size() + keys.others.size() > JsonLimits::k_most_keys)
    throw error_at(file_, line_,
                   fmt::format("an object of more than {} keys; expected fewer", JsonLimits::k_most_keys));
}

}  // namespace colltopo::json_parts
