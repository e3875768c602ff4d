// Rules back from text.
#include <charconv>
#include <limits>
#include <sstream>

#include <fmt/format.h>
#include "base/json.h"
#include "base/json_number.h"
#include "base/lines.h"
#include "colltopo/error.h"
#include "tuning/table.h"

namespace colltopo::tuning {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* k_rules = "what colltopo rules --for tuned-json writes";
constexpr std::string_view k_ucc_variable = "UCC_TL_UCP_TUNE=";

/// The numbers of a classic file, one after the other.
class Numbers {
 public:
  Numbers(const std::string& text, const std::string& name) : in_(text), name_(name) {}

  std::size_t next(std::string_view what) {
    std::string word;
    while (!(words_ >> word)) {
      std::string line;
      if (!std::getline(in_, line)) fault(fmt::format("the file ends; expected {}", what));
      ++line_;
      words_.clear();
      words_.str(line.substr(0, line.find('#')));
    }
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc{} || end != word.data() + word.size())
      fault(fmt::format("{}; expected {}", in_quotes(word), what));
    return number;
  }
  [[noreturn]] void fault(const std::string& what) const { throw Error(fmt::format("{}:{}: {}", name_, line_, what)); }

 private:
  std::istringstream in_, words_;
  std::string name_;
  int line_ = 0;
};

Collective collective_numbered(const Numbers& numbers, std::size_t number) {
  for (const CollectiveRow& row : collectives())
    if (tuned_number(row.collective) == static_cast<int>(number)) return row.collective;
  numbers.fault(fmt::format("collective {}; expected one that colltopo has: 0 2 3 7 9 11 12 15", number));
}

std::vector<Rule> read_classic(const std::string& text, const std::string& name) {
  Numbers numbers(text, name);
  std::vector<Rule> rules;
  for (std::size_t left = numbers.next("how many collectives"); left > 0; --left) {
    const Collective collective = collective_numbered(numbers, numbers.next("a collective's number"));
    std::size_t before = rules.size();
    for (std::size_t sizes = numbers.next("how many communicator sizes"); sizes > 0; --sizes) {
      const auto ranks = static_cast<Rank>(numbers.next("a communicator size"));
      for (; before < rules.size(); ++before) rules[before].most_ranks = ranks - 1;
      const std::size_t begin = rules.size();
      for (std::size_t messages = numbers.next("how many message sizes"); messages > 0; --messages) {
        const std::size_t least = numbers.next("a message size");
        const auto algorithm = static_cast<int>(numbers.next("an algorithm's number"));
        numbers.next("fan out"), numbers.next("segment size");
        const Theirs* const theirs = theirs_numbered(collective, algorithm);
        if (theirs == nullptr)
          numbers.fault(fmt::format("algorithm {} of {}; expected one of: {}", algorithm, colltopo::name(collective),
                                    algorithms_of(Dialect::tuned, collective)));
        if (rules.size() > begin) rules.back().most_bytes = least - 1;
        rules.push_back({collective, ranks, k_any_ranks, least, k_any_bytes, std::string(theirs->name)});
      }
    }
  }
  return rules;
}

template <typename Number>
Number number_in(const Json& object, const char* key, const std::string& file) {
  return whole_number_of<Number>(object.at(key), fmt::format("{}: {}", file, key));
}

template <typename Number>
Number number_or_inf(const Json& object, const char* key, const std::string& file) {
  return object.at(key).is_string() ? std::numeric_limits<Number>::max() : number_in<Number>(object, key, file);
}

std::vector<Rule> read_rules_in(const Json& json, const std::string& name) {
  std::vector<Rule> rules;
  try {
    for (const auto& [key, list] : json.at("collectives").items()) {
      const auto collective = collective_named(key);
      if (!collective) throw Error(fmt::format("{}: collective {} is unknown", name, in_quotes(key)));
      for (const Json& communicator : list)
        for (const Json& rule : communicator.at("rules"))
          rules.push_back({*collective, number_in<Rank>(communicator, "comm_size_min", name),
                           number_or_inf<Rank>(communicator, "comm_size_max", name),
                           number_in<std::size_t>(rule, "msg_size_min", name),
                           number_or_inf<std::size_t>(rule, "msg_size_max", name), rule.at("alg").get<std::string>()});
    }
  } catch (const Json::exception& error) {
    throw Error(fmt::format("{}: {}; expected {}", name, error.what(), k_rules));
  }
  return rules;
}

/// "12-34" or "12-inf"; false when it is neither.
template <typename Number>
bool read_range(std::string_view text, Number& from, Number& to) {
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) return false;
  const auto read = [](std::string_view word, Number& number) {
    if (word == "inf") return number = std::numeric_limits<Number>::max(), true;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    return error == std::errc{} && end == word.data() + word.size();
  };
  return read(text.substr(0, dash), from) && read(text.substr(dash + 1), to);
}

Rule read_ucc_rule(const std::string& text, const std::string& name) {
  std::istringstream in(text);
  std::vector<std::string> fields;
  for (std::string field; std::getline(in, field, ':');) fields.push_back(field);
  Rule rule;
  const bool whole = fields.size() == 5 && fields[3] == "inf" && fields[2].starts_with('[') &&
                     fields[2].ends_with(']') && fields[4].starts_with('@');
  const auto collective = whole ? collective_named(fields[0]) : std::nullopt;
  if (!collective || !read_range(fields[1], rule.least_bytes, rule.most_bytes) ||
      !read_range(std::string_view(fields[2]).substr(1, fields[2].size() - 2), rule.least_ranks, rule.most_ranks))
    throw Error(fmt::format("{}: {}; expected as in alltoall:0-4096:[16-31]:inf:@bruck", name, in_quotes(text)));
  rule.collective = *collective;
  if (rule.most_bytes != k_any_bytes) --rule.most_bytes;
  rule.algorithm = fields[4].substr(1);
  return rule;
}

std::vector<Rule> read_ucc(std::string_view text, const std::string& name) {
  std::vector<Rule> rules;
  std::istringstream in{std::string(text.substr(0, text.find('\n')))};
  for (std::string one; std::getline(in, one, '#');) rules.push_back(read_ucc_rule(one, name));
  return rules;
}

}  // namespace

ReadRules read_rules(const std::string& text, const std::string& name_for_errors) {
  if (text.starts_with(k_ucc_variable))
    return {Dialect::ucc, read_ucc(std::string_view(text).substr(k_ucc_variable.size()), name_for_errors)};
  if (trimmed(text).starts_with('{'))
    return {Dialect::tuned_json,
            read_rules_in(colltopo::read_json<Json>(text, name_for_errors, k_rules), name_for_errors)};
  return {Dialect::tuned, read_classic(text, name_for_errors)};
}

}  // namespace colltopo::tuning
