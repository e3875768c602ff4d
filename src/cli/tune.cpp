// colltopo tune, under mpirun: colltopo-probe, which is an MPI program of its own beside this one.
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/command.h"
#include "colltopo/error.h"
#include "comm/conclusion.h"
#include "comm/constants.h"

namespace colltopo::cli {

namespace {

struct TuneArguments {
  std::string output, seconds;
  bool constants_only = false, show = false;
  std::optional<std::string> forget;  // a host; empty: all
};

std::string file_of(const TuneArguments& arguments) {
  std::string path = arguments.output.empty() ? default_constants_path() : arguments.output;
  if (path.empty()) throw Error("neither XDG_CACHE_HOME nor HOME is set; expected -o FILE");
  return path;
}

std::string hosts_text(const ConstantsRecord& record) {
  constexpr std::size_t k_named = 4;
  const std::size_t named = std::min(record.hosts.size(), k_named);
  std::string text = fmt::format("{}", fmt::join(std::span(record.hosts).first(named), ","));
  if (named < record.hosts.size()) text += fmt::format(" and {} more", record.hosts.size() - named);
  return text;
}

void show_records(const std::string& path, const Session& session) {
  const std::vector<ConstantsRecord> records = read_constants(path);
  if (session.json) {
    nlohmann::ordered_json all = {{"file", path}, {"records", nlohmann::ordered_json::array()}};
    for (const ConstantsRecord& record : records) all["records"].push_back(json_of(record));
    fmt::print("{}\n", all.dump(1));
    return;
  }
  fmt::print("{}: {} records\n", path, records.size());
  for (const ConstantsRecord& record : records) {
    fmt::print("{}, {} ranks on each, {}, transport {}, colltopo {}: {} constants, times of {} algorithms, {:.0f} s\n",
               hosts_text(record), record.ranks_per_host, record.library.empty() ? "MPI not known" : record.library,
               record.transport, record.version, record.constants.size(), record.times.size(), record.seconds);
    if (!record.times.empty()) fmt::print("  {}\n", text_of(conclusion_of(record)));
  }
}

void forget(const std::string& path, const std::string& host, const Session& session) {
  const std::size_t gone = forget_constants(path, host), left = read_constants(path).size();
  if (session.json)
    fmt::print("{}\n", nlohmann::ordered_json{{"file", path}, {"forgotten", gone}, {"left", left}}.dump(1));
  else
    fmt::print("{}: {} records forgotten, {} left\n", path, gone, left);
}

void run_tune(const TuneArguments& arguments, const Session& session) {
  if (arguments.show) return show_records(file_of(arguments), session);
  if (arguments.forget) return forget(file_of(arguments), *arguments.forget, session);
  std::error_code ignored;
  const auto folder = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  if (folder.empty()) throw Error("/proc/self/exe: cannot be read; colltopo-probe is looked for beside this program");
  const auto probe = folder / "colltopo-probe";
  std::vector<std::string> words = {probe.string()};
  if (!arguments.output.empty()) words.insert(words.end(), {"-o", arguments.output});
  if (!arguments.seconds.empty()) words.insert(words.end(), {"--seconds", arguments.seconds});
  if (arguments.constants_only) words.emplace_back("--constants-only");
  if (session.json) words.emplace_back("--json");
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  execv(pointers[0], pointers.data());
  throw Error(fmt::format("{}: cannot be run ({}); it is built and installed with MPI alone", probe.string(),
                          std::strerror(errno)));
}

}  // namespace

void add_tune(CLI::App& app, Session& session) {
  CLI::App* command = subcommand(app, session, "tune",
                                 "Under mpirun: measures the model's constants and algorithms on the hosts of the job "
                                 "(colltopo-probe); and what is known of earlier ones");
  const auto arguments = std::make_shared<TuneArguments>();
  command->add_option("-o,--output", arguments->output, "File to add them to; by default one that jobs find");
  command->add_option("--seconds", arguments->seconds,
                      "To take in all, most of it for the times of algorithms; 0: constants only");
  command->add_flag("--constants-only", arguments->constants_only, "No times of algorithms; one rank is enough");
  CLI::Option* const shows = command->add_flag("--show", arguments->show, "What the file has, and nothing is measured");
  command
      ->add_option("--forget", arguments->forget,
                   "Take out of the file what was measured on this host; without a host, all of it")
      ->expected(0, 1)
      ->excludes(shows);
  command->callback([arguments, &session] { run_tune(*arguments, session); });
}

}  // namespace colltopo::cli
