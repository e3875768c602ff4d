// Rules as text.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "tuning/table.h"

namespace colltopo::tuning {

namespace {

using Json = nlohmann::ordered_json;

using Rules = std::vector<Rule>;

/// The end of the rules from `first` on that `same` says are like it.
template <typename Same>
std::size_t end_of(const Rules& rules, std::size_t first, const Same& same) {
  std::size_t end = first;
  while (end < rules.size() && same(rules[first], rules[end])) ++end;
  return end;
}
bool same_collective(const Rule& a, const Rule& b) { return a.collective == b.collective; }
bool same_communicator(const Rule& a, const Rule& b) { return same_collective(a, b) && a.least_ranks == b.least_ranks; }

template <typename Same>
std::size_t groups_in(const Rules& rules, std::size_t first, std::size_t end, const Same& same) {
  std::size_t groups = 0;
  for (; first < end; first = end_of(rules, first, same)) ++groups;
  return groups;
}

/// Version 1, which 4.1 reads: a number per thing, what follows # is skipped. A rule holds from its size on, and a
/// communicator takes the rules of the largest size that is no larger than it.
std::string classic(const Rules& rules) {
  std::string text = fmt::format("{} # collectives\n", groups_in(rules, 0, rules.size(), same_collective));
  for (std::size_t c = 0; c < rules.size();) {
    const std::size_t end = end_of(rules, c, same_collective);
    text += fmt::format("{} # {}\n{} # communicator sizes\n", tuned_number(rules[c].collective),
                        colltopo::name(rules[c].collective), groups_in(rules, c, end, same_communicator));
    while (c < end) {
      const std::size_t next = end_of(rules, c, same_communicator);
      text += fmt::format("{} # ranks\n{} # message sizes\n", rules[c].least_ranks, next - c);
      for (; c < next; ++c)
        text += fmt::format("{} {} 0 0 # {}\n", rules[c].least_bytes,
                            theirs_named(Dialect::tuned, rules[c].collective, rules[c].algorithm)->number,
                            rules[c].algorithm);
    }
  }
  return text;
}

template <typename Number>
Json or_inf(Number number) {
  return number == std::numeric_limits<Number>::max() ? Json("inf") : Json(number);
}

std::string json(const Rules& rules) {
  Json collectives = Json::object();
  for (std::size_t first = 0; first < rules.size();) {
    const std::size_t end = end_of(rules, first, same_communicator);
    Json list = Json::array();
    for (std::size_t i = first; i < end; ++i)
      list.push_back({{"msg_size_min", rules[i].least_bytes},
                      {"msg_size_max", or_inf(rules[i].most_bytes)},
                      {"alg", rules[i].algorithm}});
    collectives[std::string(colltopo::name(rules[first].collective))].push_back(
        {{"comm_size_min", rules[first].least_ranks},
         {"comm_size_max", or_inf(rules[first].most_ranks)},
         {"rules", list}});
    first = end;
  }
  return Json{{"rule_file_version", 3}, {"module", "tuned"}, {"collectives", collectives}}.dump(2) + "\n";
}

/// A score of inf goes before every other; sizes are from the first up to, but not including, the second.
std::string ucc(const Rules& rules) {
  std::string text = "UCC_TL_UCP_TUNE=";
  for (const Rule& rule : rules) {
    const std::string to = rule.most_bytes == k_any_bytes ? "inf" : fmt::format("{}", rule.most_bytes + 1);
    const std::string ranks = rule.most_ranks == k_any_ranks ? "inf" : fmt::format("{}", rule.most_ranks);
    text += fmt::format("{}{}:{}-{}:[{}-{}]:inf:@{}", &rule == rules.data() ? "" : "#", colltopo::name(rule.collective),
                        rule.least_bytes, to, rule.least_ranks, ranks, rule.algorithm);
  }
  return text + "\n";
}

}  // namespace

std::string written(const std::vector<Rule>& rules, Dialect dialect) {
  switch (dialect) {
    case Dialect::tuned:
      return classic(rules);
    case Dialect::tuned_json:
      return json(rules);
    case Dialect::ucc:
      return ucc(rules);
  }
  return "";
}

}  // namespace colltopo::tuning
