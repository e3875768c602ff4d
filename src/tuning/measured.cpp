// Measurements in, rules out.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "base/json.h"
#include "base/json_number.h"
#include "colltopo/error.h"
#include "tuning/table.h"

namespace colltopo::tuning {

namespace {

using Json = nlohmann::ordered_json;

/// (collective, ranks) -> bytes -> the best so far.
struct Best {
  const Theirs* algorithm = nullptr;
  double seconds = 0;
};
using Sizes = std::map<std::size_t, Best>;
using Group = std::pair<Collective, Rank>;

void add(std::vector<Measured>& all, const Json& line, const std::string& algorithm, double seconds) {
  all.push_back({*collective_named(line.at("collective").get<std::string>()),
                 whole_number_of<Rank>(line.at("ranks"), "ranks"),
                 whole_number_of<std::size_t>(line.at("bytes"), "bytes"), algorithm, seconds});
}

void add_line(std::vector<Measured>& all, const Json& line, const std::string& native, Dialect dialect) {
  if (!collective_named(line.at("collective").get<std::string>())) return;  // of the benchmark's others
  if (line.contains("candidates")) {                                        // of explain
    for (const Json& candidate : line.at("candidates"))
      if (candidate.at("seconds").is_number())
        add(all, line, candidate.at("name").get<std::string>(), candidate.at("seconds").get<double>());
    return;
  }
  std::string algorithm = line.at("algorithm").get<std::string>();
  if (algorithm == "native") {
    if (native.empty()) return;
    algorithm = fmt::format("{}:{}", dialect == Dialect::ucc ? "ucc" : "tuned", native);
  }
  add(all, line, algorithm, 1e-6 * line.at("median_us").get<double>());
}

/// Where one size ends and the next begins.
std::size_t between(std::size_t low, std::size_t high) {
  return std::max(low + 1, static_cast<std::size_t>(std::sqrt(static_cast<double>(low) * static_cast<double>(high))));
}

}  // namespace

std::optional<Dialect> dialect_named(std::string_view name) {
  for (const Dialect dialect : {Dialect::tuned, Dialect::tuned_json, Dialect::ucc})
    if (tuning::name(dialect) == name) return dialect;
  return std::nullopt;
}

std::string_view name(Dialect dialect) {
  return dialect == Dialect::tuned ? "tuned" : dialect == Dialect::tuned_json ? "tuned-json" : "ucc";
}

std::vector<Measured> measured_in(const std::string& text, const std::string& name_for_errors,
                                  const std::string& native, Dialect dialect) {
  const auto json =
      read_json<Json>(text, name_for_errors, "what colltopo-bench --json or colltopo explain --json wrote");
  if (!json.is_object() || !json.contains("results") || !json["results"].is_array())
    throw Error(
        fmt::format("{}: no object with 'results'; expected what colltopo-bench --json or colltopo explain "
                    "--json wrote",
                    name_for_errors));
  std::vector<Measured> all;
  std::size_t number = 0;
  for (const Json& line : json["results"]) {
    try {
      add_line(all, line, native, dialect);
    } catch (const Json::exception&) {
      throw Error(fmt::format("{}: results[{}] lacks collective, ranks, bytes, or an algorithm with its time",
                              name_for_errors, number));
    } catch (const Error& error) {
      throw Error(fmt::format("{}: results[{}]: {}", name_for_errors, number, error.what()));
    }
    ++number;
  }
  return all;
}

std::string algorithms_of(Dialect dialect, Collective collective) {
  std::string names;
  for (const Theirs& one : all_theirs())
    if (one.dialect == (dialect == Dialect::ucc ? Dialect::ucc : Dialect::tuned) && one.collective == collective)
      names += fmt::format("{}{}", names.empty() ? "" : " ", one.name);
  return names.empty() ? "none" : names;
}

std::vector<Rule> rules_from(const std::vector<Measured>& measured, Dialect dialect) {
  std::map<Group, Sizes> groups;
  for (const Measured& one : measured) {
    const Theirs* const algorithm = theirs_like(dialect, one.collective, one.algorithm);
    if (algorithm == nullptr || one.seconds <= 0) continue;
    Best& best = groups[{one.collective, one.ranks}][one.bytes];
    if (best.algorithm == nullptr || one.seconds < best.seconds) best = {algorithm, one.seconds};
  }
  std::vector<Rule> rules;
  for (auto group = groups.begin(); group != groups.end(); ++group) {
    const auto [collective, ranks] = group->first;
    const auto next = std::next(group);
    const bool last = next == groups.end() || next->first.first != collective;
    const Rank most_ranks = last ? std::numeric_limits<Rank>::max() : next->first.second - 1;
    const std::size_t begin = rules.size();
    std::size_t before = 0;
    for (const auto& [bytes, best] : group->second) {
      const auto size = static_cast<std::size_t>(their_bytes(collective, ranks, static_cast<double>(bytes)));
      const bool is_first = rules.size() == begin;
      if (is_first || rules.back().algorithm != best.algorithm->name) {
        const std::size_t from = is_first ? 0 : between(before, size);
        if (!is_first) rules.back().most_bytes = from - 1;
        rules.push_back({collective, ranks, most_ranks, from, std::numeric_limits<std::size_t>::max(),
                         std::string(best.algorithm->name)});
      }
      before = size;
    }
  }
  return rules;
}

}  // namespace colltopo::tuning
