#include "comm/rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <limits>

#include "base/json.h"
#include "base/lines.h"
#include "base/read_file.h"
#include "colltopo/error.h"

namespace colltopo {

namespace {

using Json = nlohmann::ordered_json;

// A value of the file and the way to it, for messages.
struct Place {
  const Json& value;
  std::string path;

  [[noreturn]] void fault(const std::string& what) const { throw Error(fmt::format("{} {}", path, what)); }

  Place member(const std::string& key) const { return {value.at(key), path + "." + key}; }
  Place item(std::size_t i) const { return {value.at(i), fmt::format("{}[{}]", path, i)}; }

  void require_object(std::initializer_list<std::string_view> known) const {
    if (!value.is_object()) fault("must be an object");
    for (const auto& [key, unused] : value.items()) {
      if (std::ranges::find(known, key) == known.end()) {
        fault(fmt::format("has {}; must be one of {}", in_quotes(key), fmt::join(known, ", ")));
      }
    }
  }
  void require_array() const {
    if (!value.is_array()) fault("must be an array");
  }
  // "inf" is `most`, as is a number that is missing where `otherwise` says so.
  std::size_t number(const std::string& key, std::size_t otherwise, std::size_t most) const {
    if (!value.contains(key)) return otherwise;
    const Place at = member(key);
    if (at.value.is_string() && (at.value == "inf" || at.value == "Inf" || at.value == "INF")) return most;
    if (!at.value.is_number_unsigned() || at.value.get<std::uint64_t>() > most) {
      at.fault(fmt::format("is {}; must be a number from 0 to {} or \"inf\"", shown(at.value), most));
    }
    return at.value.get<std::size_t>();
  }
  std::string text(const std::string& key, const std::string& otherwise) const {
    if (!value.contains(key)) return otherwise;
    const Place at = member(key);
    if (!at.value.is_string()) at.fault(fmt::format("is {}; must be a string", shown(at.value)));
    return at.value.get<std::string>();
  }
};

Distribution distribution_from(const Place& communicator) {
  const std::string name = communicator.text("comm_rank_distribution", "any");
  if (name == "any") return Distribution::any;
  if (name == "one-per-node") return Distribution::one_per_node;
  if (name == "single-node") return Distribution::single_node;
  communicator.member("comm_rank_distribution")
      .fault(fmt::format("is {}; must be any, one-per-node or single-node", in_quotes(name)));
}

void read_messages(const Place& communicator, const Rule& common, std::vector<Rule>& rules) {
  if (!communicator.value.contains("rules")) communicator.fault("has no 'rules'");
  const Place list = communicator.member("rules");
  list.require_array();
  constexpr std::size_t k_inf = std::numeric_limits<std::size_t>::max();
  for (std::size_t i = 0; i < list.value.size(); ++i) {
    const Place at = list.item(i);
    at.require_object({"msg_size_min", "msg_size_max", "alg", "seg_size", "faninout", "reqs"});
    Rule rule = common;
    rule.place = at.path;
    rule.least_bytes = at.number("msg_size_min", 0, k_inf);
    rule.most_bytes = at.number("msg_size_max", k_inf, k_inf);
    rule.segment_bytes = at.number("seg_size", 0, k_inf);
    if (!at.value.contains("alg")) at.fault("has no 'alg'");
    rule.text = at.text("alg", "");
    rule.choice = forced_from(at.path + ".alg", rule.collective, rule.text);
    rules.push_back(std::move(rule));
  }
}

void read_communicators(const Place& list, Collective collective, std::vector<Rule>& rules) {
  list.require_array();
  constexpr std::size_t k_most_ranks = std::numeric_limits<Rank>::max();
  constexpr std::size_t k_most_topology = 4096;  // bytes, as a path has; each rule has a copy
  for (std::size_t i = 0; i < list.value.size(); ++i) {
    const Place at = list.item(i);
    at.require_object({"comm_size_min", "comm_size_max", "comm_rank_distribution", "topology", "lanes", "rules"});
    Rule common;
    common.collective = collective;
    common.least_ranks = static_cast<Rank>(at.number("comm_size_min", 0, k_most_ranks));
    common.most_ranks = static_cast<Rank>(at.number("comm_size_max", k_most_ranks, k_most_ranks));
    common.distribution = distribution_from(at);
    common.topology = at.text("topology", "");
    if (common.topology.size() > k_most_topology)
      at.member("topology")
          .fault(fmt::format("has {} bytes; must have {} or fewer", common.topology.size(), k_most_topology));
    common.lanes = static_cast<Lane>(at.number("lanes", 0, k_most_ranks));
    read_messages(at, common, rules);
  }
}

// Rules travel with their files: a relative path is first looked for beside them.
void find_files(const std::string& path, std::vector<Rule>& rules) {
  std::error_code error;
  for (Rule& rule : rules) {
    if (rule.choice.kind != Forced::Kind::file || std::filesystem::path(rule.choice.path).is_absolute()) continue;
    const std::filesystem::path beside = std::filesystem::path(path).parent_path() / rule.choice.path;
    if (std::filesystem::exists(beside, error)) rule.choice.path = beside.string();
  }
}

std::uint64_t hash_of(std::string_view text) {  // FNV-1a
  std::uint64_t hash = 0xCBF29CE484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
  return hash;
}

}  // namespace

Rules Rules::read(const std::string& path) {
  const std::string text = read_file(path, k_rules_file);
  const Json json = read_json<Json>(text, path, k_rules_file.expected);
  Rules rules;
  rules.checksum_ = static_cast<long long>(hash_of(text) >> 2);
  const Place root{json, path + ":"};
  root.require_object({"rule_file_version", "module", "collectives"});
  if (const std::size_t version = root.number("rule_file_version", 3, 1000); version != 3) {
    root.fault(fmt::format("rule_file_version is {}; must be 3", version));
  }
  if (const std::string module = root.text("module", "topo"); module != "topo" && module != "tuned") {
    root.fault(fmt::format("module is {}; must be topo or tuned", in_quotes(module)));
  }
  if (!json.contains("collectives")) root.fault("has no 'collectives'");
  const Place collectives{json["collectives"], path + ": collectives"};
  if (!collectives.value.is_object()) collectives.fault("must be an object");
  for (const auto& [key, list] : collectives.value.items()) {
    const auto collective = call_named(key == "reducescatter" || key == "reducescatterblock" ? "reduce_scatter" : key);
    if (!collective) {
      collectives.fault(fmt::format("has {}; must be one of {}", in_quotes(key), call_names(", ")));
    }
    read_communicators(collectives.member(key), *collective, rules.rules_);
  }
  find_files(path, rules.rules_);
  return rules;
}

bool Rules::fits(const Rule& rule, const RuleQuery& query) {
  const bool lies = rule.distribution == Distribution::any ||
                    (rule.distribution == Distribution::one_per_node ? query.one_per_node : query.single_node);
  const bool there = rule.topology.empty() || rule.topology == query.topology || rule.topology == query.fingerprint;
  return rule.collective == query.collective && lies && there && query.ranks >= rule.least_ranks &&
         query.ranks <= rule.most_ranks && query.lanes >= rule.lanes;
}

const Rule* Rules::match(const RuleQuery& query) const {
  // What not all ranks know cannot decide.
  const bool sized = row(query.collective).sizes != Sizes::of_messages;
  const auto found = std::ranges::find_if(rules_, [&](const Rule& rule) {
    return fits(rule, query) && (!sized || (query.bytes >= rule.least_bytes && query.bytes <= rule.most_bytes));
  });
  return found == rules_.end() ? nullptr : &*found;
}

}  // namespace colltopo
