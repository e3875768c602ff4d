// colltopo rules: what was measured, as rules for Open MPI's tuned component or for UCC; and such rules, read back.
#include <iostream>
#include <limits>
#include <memory>

#include <fmt/format.h>

#include "cli/command.h"
#include "colltopo/error.h"
#include "tuning/tuning.h"

namespace colltopo::cli {

namespace {

struct RulesArguments {
  std::vector<std::string> inputs;
  std::string form;  // --for; empty: the inputs are rules
  std::string output = "-";
};

std::string up_to(std::size_t number, std::size_t any) { return number == any ? "" : fmt::format("{}", number); }

nlohmann::ordered_json rules_json(const std::vector<tuning::Rule>& rules) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const tuning::Rule& rule : rules) {
    nlohmann::ordered_json one = {{"collective", std::string(name(rule.collective))},
                                  {"ranks_min", rule.least_ranks},
                                  {"ranks_max", rule.most_ranks},
                                  {"bytes_min", rule.least_bytes},
                                  {"bytes_max", rule.most_bytes},
                                  {"algorithm", rule.algorithm}};
    if (rule.most_ranks == std::numeric_limits<Rank>::max()) one["ranks_max"] = nullptr;
    if (rule.most_bytes == std::numeric_limits<std::size_t>::max()) one["bytes_max"] = nullptr;
    list.push_back(one);
  }
  return list;
}

void show(const RulesArguments& arguments, const Session& session) {
  if (arguments.inputs.size() != 1)
    throw Error(fmt::format("{} inputs without --for; expected one file of rules, or --for with measurements",
                            arguments.inputs.size()));
  const std::string& path = arguments.inputs.front();
  const tuning::ReadRules read = tuning::read_rules(file_contents(path), input_name(path));
  Report report;
  report.add("for", std::string(tuning::name(read.dialect)))
      .add("rules", rules_json(read.rules), fmt::format("{}", read.rules.size()))
      .print(session);
  if (session.json) return;
  std::cout << fmt::format("\n{:<15} {:>15} {:>27}  {}\n", "collective", "ranks", "bytes in all", "algorithm");
  for (const tuning::Rule& rule : read.rules)
    std::cout << fmt::format(
        "{:<15} {:>6}..{:<7} {:>13}..{:<12}  {}\n", name(rule.collective), rule.least_ranks,
        up_to(static_cast<std::size_t>(rule.most_ranks), static_cast<std::size_t>(std::numeric_limits<Rank>::max())),
        rule.least_bytes, up_to(rule.most_bytes, std::numeric_limits<std::size_t>::max()), rule.algorithm);
}

/// "pairwise=bench.json": what `native` was in the file.
std::vector<tuning::Measured> measured(const std::string& input, tuning::Dialect dialect) {
  const std::size_t equals = input.find('=');
  const std::string path = equals == std::string::npos ? input : input.substr(equals + 1);
  const std::string native = equals == std::string::npos ? "" : input.substr(0, equals);
  return tuning::measured_in(file_contents(path), input_name(path), native, dialect);
}

void run_rules(const RulesArguments& arguments, const Session& session) {
  if (arguments.form.empty()) return show(arguments, session);
  const tuning::Dialect dialect = *tuning::dialect_named(arguments.form);
  std::vector<tuning::Measured> all;
  for (const std::string& input : arguments.inputs)
    for (tuning::Measured& one : measured(input, dialect)) all.push_back(std::move(one));
  const std::vector<tuning::Rule> rules = tuning::rules_from(all, dialect);
  if (rules.empty())
    throw Error(fmt::format("{} measurements, none of an algorithm that {} has (of alltoall: {}); expected some",
                            all.size(), arguments.form, tuning::algorithms_of(dialect, Collective::alltoall)));
  write_output(arguments.output, tuning::written(rules, dialect), session);
  Report report;
  report.add("for", arguments.form)
      .add("measurements", all.size())
      .add("rules", rules_json(rules), fmt::format("{}", rules.size()));
  if (arguments.output != "-") report.add("file", arguments.output);
  report.print(session, arguments.output);
}

}  // namespace

void add_rules(CLI::App& app, Session& session) {
  CLI::App* command = subcommand(app, session, "rules", "What was measured, as rules for Open MPI's tuned or for UCC");
  const auto arguments = std::make_shared<RulesArguments>();
  command
      ->add_option("FILE", arguments->inputs,
                   "What colltopo-bench --json wrote, or explain --json; NAME=FILE: its rows `native` ran the "
                   "algorithm NAME of the other library. Without --for: a file of such rules, to be shown")
      ->required();
  command->add_option("--for", arguments->form, "tuned (4.1 and later), tuned-json (6.0) or ucc")
      ->check(CLI::IsMember({"tuned", "tuned-json", "ucc"}));
  command->add_option("-o,--output", arguments->output, "Where to write; - is standard output")->capture_default_str();
  command->footer(
      "For tuned:  mpirun --mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_dynamic_rules_filename FILE ...\n"
      "For UCC: the line is an environment variable.");
  command->callback([arguments, &session] { run_rules(*arguments, session); });
}

}  // namespace colltopo::cli
