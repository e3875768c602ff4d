// MPICH's coordinates (MPIR_CVAR_COORDINATES_FILE; MPIR_CVAR_COORDINATES_DUMP writes one): a header line, then a line
// "RANK: GROUP SWITCH PORT" per rank.
//
// Every rank is a host named by its number. The numbers before the port, outermost first, are levels of switches: the
// file does not say how switches are joined, so they become a tree, as MPICH takes them.
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/numbers.h"
#include "import/formats.h"
#include "import/limits.h"
#include "import/network.h"
#include "import/switch_tree.h"

namespace colltopo::import {

namespace {

constexpr std::string_view k_expected_line = "RANK: GROUP SWITCH PORT in whole numbers";

struct Coordinates {
  std::int64_t rank = 0;
  std::vector<std::int64_t> at;  // outermost first; the last is the port
  std::int64_t line = 0;
};

bool parse(std::string_view line, Coordinates& coordinates) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || !parse_number(trimmed(line.substr(0, colon)), coordinates.rank)) return false;
  line.remove_prefix(colon + 1);
  for (std::string_view word = take_word(line); !word.empty(); word = take_word(line)) {
    std::int64_t value = 0;
    if (!parse_number(word, value)) return false;
    coordinates.at.push_back(value);
  }
  return coordinates.rank >= 0 && !coordinates.at.empty();
}

std::vector<Coordinates> coordinates_in(const Source& source) {
  std::map<std::int64_t, Coordinates> by_rank;
  std::size_t dimensions = 0;
  TextLines lines(source.contents);
  std::string_view line;
  while (lines.next(line)) {
    line = trimmed(line);
    if (line.empty() || line.starts_with('#')) continue;
    Coordinates each;
    each.line = lines.number();
    if (!parse(line, each)) {
      if (lines.number() == 1) continue;  // the header, which may be anything
      throw source.error(each.line, fmt::format("{}; expected {}", in_quotes(line), k_expected_line));
    }
    if (dimensions == 0) dimensions = each.at.size();
    if (each.at.size() != dimensions || dimensions < 2)
      throw source.error(each.line, fmt::format("{} coordinates of rank {}; expected as many as in every line, 2 or "
                                                "more (MPICH has 3: group, switch and port)",
                                                each.at.size(), each.rank));
    if (dimensions > Limits::k_most_levels)
      throw source.error(each.line, fmt::format("{} coordinates of rank {}; expected at most {}", dimensions, each.rank,
                                                Limits::k_most_levels));
    const auto [known, added] = by_rank.emplace(each.rank, each);
    if (!added)
      throw source.error(each.line, fmt::format("rank {} again; it is on line {} already and has one place", each.rank,
                                                known->second.line));
  }
  if (by_rank.empty()) throw source.error(lines.number(), fmt::format("no ranks; expected lines {}", k_expected_line));
  std::vector<Coordinates> all;
  for (const auto& [rank, each] : by_rank) {
    if (rank != static_cast<std::int64_t>(all.size()))
      throw source.error(each.line, fmt::format("rank {} without rank {}; expected all from 0 on", rank, all.size()));
    all.push_back(each);
  }
  return all;
}

/// "switch 1.7" of the first `levels` coordinates; "root" of none.
std::string switch_name(const Coordinates& each, std::size_t levels) {
  return levels == 0 ? "root"
                     : fmt::format("switch {}", fmt::join(each.at.begin(),
                                                          each.at.begin() + static_cast<std::ptrdiff_t>(levels), "."));
}

Topology read_mpich(const Source& source) {
  // What hangs below each switch, and where it was first seen.
  struct Below {
    std::vector<std::string> hosts, switches;
    std::int64_t line = 0;
  };
  std::map<std::string, Below> by_switch;
  std::vector<std::string> order;
  for (const Coordinates& each : coordinates_in(source)) {
    std::string child = std::to_string(each.rank);
    bool is_new = true;
    for (std::size_t levels = each.at.size(); is_new && levels-- > 0;) {
      const std::string name = switch_name(each, levels);
      const auto [known, added] = by_switch.try_emplace(name);
      if (added) {
        known->second.line = each.line;
        order.push_back(name);
      }
      (levels + 1 == each.at.size() ? known->second.hosts : known->second.switches).push_back(child);
      child = name;
      is_new = added;
    }
  }
  // A level that has but one switch below it joins nothing.
  SwitchTree tree(source);
  for (const std::string& name : order) {
    const Below& below = by_switch.at(name);
    if (name == "root" && below.switches.size() == 1) continue;
    tree.add_switch(name, 0, below.line);
    tree.add_hosts(below.hosts);
    tree.add_switches(below.switches);
  }
  return tree.topology(source.file);
}

bool is_mpich(std::string_view contents) {
  // The first line may be any header, so the second decides as well.
  TextLines lines(contents);
  std::string_view line;
  for (int seen = 0; seen < 2 && lines.next(line);) {
    line = trimmed(line);
    if (line.empty() || line.starts_with('#')) continue;
    ++seen;
    Coordinates each;
    if (parse(line, each)) return true;
  }
  return false;
}

}  // namespace

Format mpich_format() {
  return {"mpich", "MPICH's coordinates (MPIR_CVAR_COORDINATES_FILE)", k_switch_tree_options, is_mpich, read_mpich,
          nullptr};
}

}  // namespace colltopo::import
