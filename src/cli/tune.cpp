// colltopo tune, under mpirun: colltopo-probe, which is an MPI program of its own beside this one.
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "cli/command.h"
#include "colltopo/error.h"

namespace colltopo::cli {

namespace {

struct TuneArguments {
  std::string output, seconds;
};

void run_tune(const TuneArguments& arguments, const Session& session) {
  std::error_code ignored;
  const auto folder = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  if (folder.empty()) throw Error("/proc/self/exe: cannot be read; colltopo-probe is looked for beside this program");
  const auto probe = folder / "colltopo-probe";
  std::vector<std::string> words = {probe.string()};
  if (!arguments.output.empty()) words.insert(words.end(), {"-o", arguments.output});
  if (!arguments.seconds.empty()) words.insert(words.end(), {"--seconds", arguments.seconds});
  if (session.json) words.emplace_back("--json");
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  execv(pointers[0], pointers.data());
  throw Error(fmt::format("{}: cannot be run ({}); it is built and installed with MPI alone", probe.string(),
                          std::strerror(errno)));
}

}  // namespace

void add_tune(CLI::App& app, Session& session) {
  CLI::App* command = subcommand(
      app, session, "tune",
      "Under mpirun: measures the model's constants and algorithms on the hosts of the job (colltopo-probe)");
  const auto arguments = std::make_shared<TuneArguments>();
  command->add_option("-o,--output", arguments->output, "File to add them to; by default one that jobs find");
  command->add_option("--seconds", arguments->seconds,
                      "To take in all, most of it for the times of algorithms; 0: constants only");
  command->callback([arguments, &session] { run_tune(*arguments, session); });
}

}  // namespace colltopo::cli
