#include "comm/forced.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <vector>

#include "base/lines.h"
#include "colltopo/error.h"

namespace colltopo {

int whole_number(std::string_view name, std::string_view value, int least, int most) {
  int number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc{} || end != value.data() + value.size() || number < least || number > most) {
    throw Error(fmt::format("{} is {}; must be a whole number from {} to {}", name, in_quotes(value), least, most));
  }
  return number;
}

namespace {

std::string names_of(Collective collective) {
  std::vector<std::string_view> names = {"auto", "fallback", "file:PATH"};
  for (const Algorithm& algorithm : algorithms()) {
    if (serves(algorithm, collective)) names.push_back(algorithm.name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string option_names(const Algorithm& algorithm) {
  if (algorithm.options.empty()) return fmt::format("none, {} has no options", algorithm.name);
  std::vector<std::string_view> names;
  for (const Option& option : algorithm.options) names.push_back(option.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

// One option of "tra2:intra-radix=4,group=2".
void set_option(std::string_view setting, std::string_view text, Forced& forced) {
  const std::size_t equals = text.find('=');
  const std::string_view key = text.substr(0, equals);
  const std::string_view value = equals == std::string_view::npos ? std::string_view{} : text.substr(equals + 1);
  const Option* const option = option_named(*forced.algorithm, key);
  if (option == nullptr)
    throw Error(fmt::format("{} has option {}; must be {}", setting, in_quotes(text), option_names(*forced.algorithm)));
  forced.values.set(option->name,
                    whole_number(fmt::format("{} of {}", key, setting), value, option->least, option->most));
}

}  // namespace

AlgorithmOptions Forced::over(AlgorithmOptions given) const {
  given.values.set(values);
  return given;
}

std::string text_of(const Algorithm& algorithm, const OptionValues& values) {
  std::string text(algorithm.name);
  char before = ':';
  for (const OptionValues::Value& value : values.all()) {
    if (option_named(algorithm, value.name) == nullptr) continue;
    text += fmt::format("{}{}={}", before, value.name, value.value);
    before = ',';
  }
  return text;
}

Forced forced_from(std::string_view place, Collective collective, std::string_view value) {
  Forced forced;
  if (value.empty() || value == "auto") return forced;
  if (value == "fallback") {
    forced.kind = Forced::Kind::fallback;
    return forced;
  }
  if (value.starts_with("file:")) {
    forced.kind = Forced::Kind::file;
    forced.path = value.substr(5);
    if (forced.path.empty()) throw Error(fmt::format("{} is 'file:' without a path", place));
    return forced;
  }
  const std::size_t colon = value.find(':');
  forced.kind = Forced::Kind::algorithm;
  forced.algorithm = algorithm_named(value.substr(0, colon));
  if (forced.algorithm == nullptr || !serves(*forced.algorithm, collective)) {
    throw Error(fmt::format("{} is {}; must be one of {}", place, in_quotes(value), names_of(collective)));
  }
  for (std::string_view rest = colon == std::string_view::npos ? "" : value.substr(colon + 1); !rest.empty();) {
    const std::size_t comma = rest.find(',');
    set_option(place, rest.substr(0, comma), forced);
    rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
  }
  return forced;
}

}  // namespace colltopo
