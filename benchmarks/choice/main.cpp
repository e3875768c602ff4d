// colltopo-replay: what does a policy of choice cost, beyond calling the best row each time? Plays the policy's own
// code over made noise and recorded series, from a seed; without MPI.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "choice/noise.h"
#include "choice/play.h"
#include "choice/policy.h"

namespace colltopo::replay {
namespace {

constexpr const char* k_about =
    "Plays a policy of choice over many jobs: five contestants, of which the last is Open MPI's own.\n"
    "regret: what the calls of a job took beyond as many of the best, over those; off: part of the jobs whose choice "
    "at\n"
    "the end is more than 5% off the best; explored: calls of a job that were made to learn.\n"
    "Exit status: 0 good, 2 usage or a file that cannot be read.";
constexpr double k_usual_tune_error = 0.15;

struct Options {
  std::string policy = "trial";
  std::vector<std::string> noises;
  std::vector<std::string> series;
  double tune_error = 0;  // 0: no tune
  Asked asked;
  bool json = false;
};

std::string part(double value) { return fmt::format("{:.2f}%", 100 * value); }

void show_progress(const std::string& name, std::size_t calls, std::size_t done, std::size_t all) {
  if (done % 16 == 0) fmt::print(stderr, "\r{} x {} calls: {} of {} jobs ", name, calls, done, all);
}

// Without a choice of one's own: every kind of noise, and a quiet machine after a tune that is off as usual.
std::vector<Result> results_of(const Options& options) {
  const MakePolicy make = [&](const Start& start) {
    return options.policy == "race" ? race_policy(start) : trial_policy(start);
  };
  const std::optional<double> error = options.tune_error > 0 ? std::optional(options.tune_error) : std::nullopt;
  const bool all = options.noises.empty() && options.series.empty();
  std::vector<Result> results;
  const auto add = [&](std::vector<Result> more) { results.insert(results.end(), more.begin(), more.end()); };
  for (const Noise& noise : noises())
    if (all || std::ranges::find(options.noises, noise.name) != options.noises.end())
      add(play(noise, error, make, options.asked));
  if (all && !error) add(play(noises().front(), k_usual_tune_error, make, options.asked));
  for (const std::string& path : options.series) add(play(read_series(path), error, make, options.asked));
  return results;
}

void print(const Options& options, const std::vector<Result>& results) {
  if (options.json) {
    nlohmann::ordered_json lines = nlohmann::ordered_json::array();
    for (const Result& one : results)
      lines.push_back({{"noise", one.noise},
                       {"tune_error", one.tune_error ? nlohmann::ordered_json(*one.tune_error) : nullptr},
                       {"calls", one.calls},
                       {"regret", one.regret},
                       {"off", one.off},
                       {"explored", one.explored}});
    std::cout
        << nlohmann::ordered_json{{"policy", options.policy}, {"seed", options.asked.seed}, {"results", lines}}.dump(1)
        << "\n";
    return;
  }
  fmt::print("{:24} {:>6} {:>8} {:>8} {:>8} {:>9}\n", "noise", "tune", "calls", "regret", "off", "explored");
  for (const Result& one : results)
    fmt::print("{:24} {:>6} {:>8} {:>8} {:>8} {:>9.0f}\n", one.noise, one.tune_error ? part(*one.tune_error) : "-",
               one.calls, part(one.regret), part(one.off), one.explored);
}

int run(int argc, char** argv) {
  Options options;
  CLI::App app{k_about, "colltopo-replay"};
  app.add_option("--policy", options.policy, "trial: the component's today; race: its successor")
      ->check(CLI::IsMember({"trial", "race"}))
      ->capture_default_str();
  app.add_option("--noise", options.noises, "quiet, shared, noisy; all by default")
      ->delimiter(',')
      ->check(CLI::IsMember({"quiet", "shared", "noisy"}));
  app.add_option("--series", options.series, "recorded by colltopo-bench --record")->check(CLI::ExistingFile);
  app.add_option("--tune-error", options.tune_error, "all times are known with this error; 0: none is known")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  app.add_option("--calls", options.asked.calls, "of a job")
      ->delimiter(',')
      ->check(CLI::Range(std::size_t{1}, std::size_t{10'000'000}))
      ->capture_default_str();
  app.add_option("--jobs", options.asked.jobs, "of a cell, of which there are nine; nine times as many of a series")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1'000'000}))
      ->capture_default_str();
  app.add_option("--long-jobs", options.asked.long_jobs, fmt::format("the same above {} calls", k_long_calls))
      ->check(CLI::Range(std::size_t{1}, std::size_t{1'000'000}))
      ->capture_default_str();
  app.add_option("--seed", options.asked.seed, "of all draws")->capture_default_str();
  app.add_flag("--json", options.json, "one JSON object on standard output");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  const bool on_terminal = isatty(STDERR_FILENO) != 0;
  if (on_terminal) options.asked.progress = show_progress;
  const std::vector<Result> results = results_of(options);
  if (on_terminal) fmt::print(stderr, "\r{:60}\r", "");
  print(options, results);
  if (std::fflush(stdout) != 0 || !std::cout.flush()) throw std::runtime_error("standard output: cannot be written");
  return 0;
}

}  // namespace
}  // namespace colltopo::replay

int main(int argc, char** argv) {
  try {
    return colltopo::replay::run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "colltopo-replay: " << error.what() << "\n";
    return 2;
  }
}
