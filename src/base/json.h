// Reading JSON. All readers of JSON parse here, so that none meets a text deeper or wider than it can walk.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/lines.h"

namespace colltopo {

/// Limits of a JSON text, whatever it is for.
struct JsonLimits {
  /// Lists and objects inside each other. Walks recurse, also on a fiber's stack of 1 MiB; our own files have 8.
  static constexpr int k_deepest = 100;
  /// Keys of an object. An object that keeps their order looks for each among all; our own have some 100.
  static constexpr std::size_t k_most_keys = 1000;
};

/// A value for a message: short, in one line, and never walked.
template <class Json>
std::string shown(const Json& value) {
  if (value.is_array()) return "a list";
  if (value.is_object()) return "an object";
  return short_text(value.dump(-1, ' ', false, Json::error_handler_t::replace));
}

namespace json_parts {

/// "FILE:LINE: syntax error ...; expected WHAT" of what the parser throws.
Error syntax_error(const std::string& file, std::int64_t line, std::string_view what, std::string_view expected);

/// The text's letters; their lines are counted, for the parser has no places of its own.
class CountedLetters {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountedLetters(const char* at, std::int64_t& line) : at_(at), line_(&line) {}
  const char& operator*() const { return *at_; }
  CountedLetters& operator++() {
    if (*at_++ == '\n') ++*line_;
    return *this;
  }
  friend bool operator==(const CountedLetters& a, const CountedLetters& b) { return a.at_ == b.at_; }

 private:
  const char* at_;
  std::int64_t* line_;
};

/// What is open while a text is parsed: throws Error at the place of the first thing that is too much.
class OpenObjects {
 public:
  OpenObjects(const std::string& file, const std::int64_t& line) : file_(file), line_(line) {}
  void opens();
  void closes() { open_.pop_back(); }
  void has_key(const std::string& key);

 private:
  const std::string& file_;
  const std::int64_t& line_;
  struct Keys {
    std::vector<std::string> few;  // nearly every object has some four
    std::unordered_set<std::string> others;
  };
  std::vector<Keys> open_;  // none of a list
};

}  // namespace json_parts

/// Told of every key and every beginning of an object, with the depth and the line at which it stands.
template <class Json>
using JsonWatcher = std::function<void(int depth, typename Json::parse_event_t event, const Json& value, std::int64_t)>;

/// The value that a text holds. Throws Error "FILE:LINE: what is wrong; expected WHAT": a syntax error, a key that
/// stands twice in an object (one of two would go unread), or more than the limits.
template <class Json>
Json read_json(std::string_view text, const std::string& file, std::string_view expected,
               const JsonWatcher<Json>& watcher = {}) {
  std::int64_t line = 1;
  json_parts::OpenObjects open(file, line);
  const auto look = [&](int depth, typename Json::parse_event_t event, Json& value) {
    using Event = typename Json::parse_event_t;
    if (event == Event::object_start || event == Event::array_start) open.opens();
    if (event == Event::object_end || event == Event::array_end) open.closes();
    if (event == Event::key) open.has_key(value.template get_ref<const std::string&>());
    if (watcher && (event == Event::key || event == Event::object_start)) watcher(depth, event, value, line);
    return true;
  };
  try {
    const char* const begin = text.data();
    return Json::parse(json_parts::CountedLetters(begin, line), json_parts::CountedLetters(begin + text.size(), line),
                       look);
  } catch (const typename Json::exception& error) {
    throw json_parts::syntax_error(file, line, error.what(), expected);
  }
}

}  // namespace colltopo
