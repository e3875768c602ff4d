// Values of options by name, and the options of all rows.

#include <fmt/format.h>

#include <algorithm>

#include "colltopo/algorithms.h"

namespace colltopo {

namespace {

bool same_name(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return x == y || (x == '_' && y == '-'); });
}

auto place_of(auto& values, std::string_view name) {
  return std::ranges::lower_bound(values, name, {},
                                  [](const OptionValues::Value& v) -> std::string_view { return v.name; });
}

}  // namespace

OptionValues::OptionValues(std::initializer_list<Value> values) {
  for (const Value& value : values) set(value.name, value.value);
}

void OptionValues::set(std::string_view name, int value) {
  const auto place = place_of(values_, name);
  if (place != values_.end() && place->name == name)
    place->value = value;
  else
    values_.insert(place, {std::string(name), value});
}

void OptionValues::set(const OptionValues& others) {
  for (const Value& value : others.values_) set(value.name, value.value);
}

void OptionValues::forget(std::string_view name) {
  std::erase_if(values_, [&](const Value& value) { return value.name == name; });
}

std::optional<int> OptionValues::find(std::string_view name) const {
  const auto place = place_of(values_, name);
  return place != values_.end() && place->name == name ? std::optional(place->value) : std::nullopt;
}

bool operator==(const AlgorithmOptions& a, const AlgorithmOptions& b) {
  const bool same_groups = a.groups == b.groups || (a.groups && b.groups && *a.groups == *b.groups);
  const bool same_pairs = a.pairs == b.pairs || (a.pairs && b.pairs && *a.pairs == *b.pairs);
  return a.values == b.values && same_groups && a.dimensions == b.dimensions && same_pairs;
}

const Option* option_named(const Algorithm& algorithm, std::string_view name) {
  const auto found = std::ranges::find_if(algorithm.options, [&](const Option& o) { return same_name(name, o.name); });
  return found == algorithm.options.end() ? nullptr : &*found;
}

std::span<const Option> all_options() {
  static const std::vector<Option> table = [] {
    std::vector<Option> all;
    for (const Algorithm& algorithm : algorithms()) {
      for (const Option& option : algorithm.options) {
        if (std::ranges::find(all, option.name, &Option::name) == all.end()) all.push_back(option);
      }
    }
    return all;
  }();
  return table;
}

std::string refusal_of(const Option& option, int value) {
  if (value >= option.least && value <= option.most) return "";
  return fmt::format("{} {} is not in {}..{}", option.name, value, option.least, option.most);
}

}  // namespace colltopo
