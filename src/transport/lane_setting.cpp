#include "transport/lane_setting.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/lines.h"
#include "colltopo/error.h"
#include "transport/fabric_settings.h"

namespace colltopo {

namespace {

constexpr int k_ports_per_lane = 1000;
constexpr std::size_t k_most_lanes = 64;
constexpr std::string_view k_expected =
    "must be auto, shared, device:NAME,NAME.., ports:FIRST:COUNT, lid-bits:N,N.., gid-index:N,N.., sl:N,N.. or "
    "path-index:N,N..";

[[noreturn]] void refuse(std::string_view text, std::string_view why) {
  throw Error(fmt::format("lanes is {}; {}", in_quotes(text), why));
}

struct Word {
  std::string_view name;
  LaneKind kind;
  int largest;  // number; -1: a name
};
constexpr std::array<Word, 5> k_lists = {{{"device", LaneKind::device, -1},
                                          {"lid-bits", LaneKind::lid_bits, 127},
                                          {"gid-index", LaneKind::gid_index, 255},
                                          {"sl", LaneKind::sl, 15},
                                          {"path-index", LaneKind::path_index, 255}}};

bool number_up_to(std::string_view text, int largest, int& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() && number >= 0 && number <= largest;
}

std::vector<std::string> parts_of(std::string_view list, char between) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(between, begin), list.size());
    parts.emplace_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// Each value is a range as UCX takes it: 21000-21999.
std::vector<std::string> port_ranges(std::string_view text, std::string_view list) {
  const auto parts = parts_of(list, ':');
  int first = 0, count = 0;
  if (parts.size() != 2 || !number_up_to(parts[0], 65535, first) || !number_up_to(parts[1], k_most_lanes, count) ||
      first < 1 || count < 1)
    refuse(text, "must be ports:FIRST:COUNT with a first port and a number of lanes, such as ports:21000:4");
  if (first + k_ports_per_lane * count - 1 > 65535)
    refuse(text, fmt::format("its {} lanes of {} ports each end at port {}; must end at most at 65535", count,
                             k_ports_per_lane, first + k_ports_per_lane * count - 1));
  std::vector<std::string> ranges;
  for (int lane = 0; lane < count; ++lane)
    ranges.push_back(fmt::format("{}-{}", first + k_ports_per_lane * lane, first + k_ports_per_lane * (lane + 1) - 1));
  return ranges;
}

}  // namespace

LaneSetting lane_setting(std::string_view text) {
  LaneSetting setting;
  setting.text = text;
  if (text.empty() || text == "auto") return setting;
  if (text == "shared") {
    setting.kind = LaneKind::shared;
    return setting;
  }
  const std::size_t colon = text.find(':');
  const std::string_view word = text.substr(0, colon);
  const std::string_view list = colon == std::string_view::npos ? std::string_view{} : text.substr(colon + 1);
  if (word == "ports") {
    setting.kind = LaneKind::ports;
    setting.values = port_ranges(text, list);
    return setting;
  }
  const auto found = std::ranges::find(k_lists, word, &Word::name);
  if (found == k_lists.end() || colon == std::string_view::npos) refuse(text, k_expected);
  setting.kind = found->kind;
  setting.values = parts_of(list, ',');
  if (setting.values.size() > k_most_lanes) refuse(text, fmt::format("at most {} lanes", k_most_lanes));
  for (const std::string& value : setting.values) {
    int number = 0;
    if (value.empty()) refuse(text, "one of its values is empty");
    if (found->largest >= 0 && !number_up_to(value, found->largest, number))
      refuse(text, fmt::format("{} must be a number from 0 to {}", in_quotes(value), found->largest));
  }
  return setting;
}

std::vector<UcxSetting> ucx_settings(const LaneSetting& setting, Lane lane) {
  const std::string& value = setting.values[static_cast<std::size_t>(lane)];
  switch (setting.kind) {
    case LaneKind::one:
    case LaneKind::shared:
      return {};
    case LaneKind::device:
      return {{"NET_DEVICES", value}};
    case LaneKind::ports:
      return {{"PORT_RANGE", value}};
    default:
      return fabric_settings(setting.kind, value);
  }
}

std::string lane_fault(const LaneSetting& setting) {
  if (setting.kind != LaneKind::path_index) return {};
  return fmt::format("lanes {}: {}", in_quotes(setting.text), why_no_path_index());
}

}  // namespace colltopo
