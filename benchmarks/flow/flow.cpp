// How long do the optimum and a routing of the all-to-all take, how near do they come, in how much memory? One process
// per case, one after the other; each case has the seconds that it is allowed, and the exit status is 1 if one needs
// more.
//
//   colltopo-bench-flow [--threads 2] [--only kautz:1000] [--scaling] [--json | --csv]
//
// --scaling: generalized Kautz graphs of 64 to 4,096 hosts instead, which benchmarks/flow/plot draws.
//
// Methods: `flow` is path Gauss-Seidel without symmetry, `bound` the optimum over orbits, `mcf` the routing that
// schedules are made of. The gap is certified; times are 1/F.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "colltopo/error.h"
#include "colltopo/synthesis.h"
#include "synthesis/sweep/path_gauss_seidel.h"

namespace {

using namespace colltopo;
using namespace colltopo::synthesis;

struct Case {
  const char* method;
  std::string topology;
  double gap;
  double seconds_allowed;
};

const std::vector<Case> k_cases = {
    {"flow", "kautz:100:4", 1e-3, 1},       {"flow", "kautz:1000:4", 0.01, 5},
    {"flow", "kautz:1000:4", 5e-3, 10},     {"flow", "kautz:1000:4", 1e-3, 60},
    {"flow", "jellyfish:1000:4", 0.01, 5},  {"flow", "jellyfish:1000:4", 5e-3, 10},
    {"flow", "jellyfish:1000:4", 1e-3, 60}, {"flow", "torus:32x32/drop-links:5:1", 1e-3, 30},
    {"flow", "kautz:4096:4", 0.01, 90},     {"mcf", "kautz:100:4", 1e-6, 1},
    {"mcf", "kautz:512:4", 0.01, 20},       {"mcf", "kautz:1000:4", 0.01, 90},
    {"bound", "kautz:1000:4", 0.01, 1},     {"bound", "kautz:1000:4", 1e-6, 30},
    {"bound", "kautz:4096:4", 0.01, 10},    {"bound", "torus:64x64", 1e-9, 1},
    {"bound", "torus:16x16x16", 1e-9, 1},   {"bound", "hypercube:12", 1e-9, 1},
};

/// All of 1%, with and without symmetry and as a routing, allowed what the largest of k_cases is.
std::vector<Case> scaling_cases() {
  std::vector<Case> cases;
  for (int hosts = 64; hosts <= 4096; hosts *= 2)
    for (const char* const method : {"bound", "flow", "mcf"})
      cases.push_back({method, fmt::format("kautz:{}:4", hosts), 0.01, 90});
  return cases;
}

/// What a case's process tells: plain numbers through a pipe.
struct Outcome {
  double seconds = 0;
  double time = 0;
  double time_lower = 0;
  long hosts = 0;
  long links = 0;
  double paths = 0;  // of the routing; 0: none is made

  double gap() const { return time / time_lower - 1; }
};

struct Usage {
  double cpu_seconds = 0;
  double peak_memory = 0;  // bytes
};

Outcome outcome_of(const Case& one, int threads) {
  const Topology topology = topology_of(one.topology);
  SynthesisOptions options;
  options.gap = one.gap;
  options.threads = threads;
  Outcome outcome;
  outcome.hosts = topology.hosts();
  outcome.links = static_cast<long>(topology.links().size());
  const auto begin = std::chrono::steady_clock::now();
  const std::string method = one.method;
  if (method == "flow") {
    const FlowSolution flow = path_gauss_seidel(whole_instance(topology), options);
    outcome.time = flow.time;
    outcome.time_lower = flow.time_lower;
    outcome.paths = static_cast<double>(flow.routing.paths());
  } else {
    const bool routed = method == "mcf";
    const Synthesis made = routed ? routing_method_named(method)->make(topology, options)
                                  : Synthesis{Routing(), alltoall_bound(topology, options)};
    outcome.time = made.bound.time;
    outcome.time_lower = made.bound.time_lower;
    outcome.paths = static_cast<double>(made.routing.paths());
  }
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return outcome;
}

/// In a process of its own, so that its peak of memory is its own. False when that process fails.
bool run(const Case& one, int threads, Outcome& outcome, Usage& usage) {
  int ends[2];
  if (pipe(ends) != 0) throw Error("no pipe to a process of a case");
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) throw Error("no process for a case");
  if (child == 0) {
    close(ends[0]);
    try {
      const Outcome mine = outcome_of(one, threads);
      _exit(write(ends[1], &mine, sizeof mine) == sizeof mine ? 0 : 1);
    } catch (const std::exception& error) {
      fmt::print(stderr, "colltopo-bench-flow: {} {}: {}\n", one.method, one.topology, error.what());
      _exit(1);
    }
  }
  close(ends[1]);
  const bool told = read(ends[0], &outcome, sizeof outcome) == sizeof outcome;
  close(ends[0]);
  int status = 0;
  rusage used = {};
  wait4(child, &status, 0, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  usage.cpu_seconds = seconds(used.ru_utime) + seconds(used.ru_stime);
  usage.peak_memory = 1024.0 * static_cast<double>(used.ru_maxrss);
  return told && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

enum class Format { table, csv, json };

void print_head(Format format) {
  if (format == Format::table)
    fmt::print("{:6} {:28} {:>6} {:>7} {:>8} {:>8} {:>9} {:>9} {:>10} {:>10} {:>9}\n", "method", "topology", "hosts",
               "asked", "allowed", "seconds", "cpu", "gap", "1/F", "paths", "memory");
  else if (format == Format::csv)
    fmt::print(
        "method,topology,hosts,links,gap_asked,seconds_allowed,seconds,cpu_seconds,gap,time,time_lower,paths,"
        "peak_memory_bytes\n");
  else
    fmt::print("{{\"results\": [");
}

void print_case(Format format, bool first, const Case& one, const Outcome& outcome, const Usage& usage) {
  if (format == Format::table)
    fmt::print("{:6} {:28} {:6} {:7.0e} {:6.0f} s {:6.2f} s {:7.2f} s {:9.2e} {:10.3f} {:10.0f} {:6.0f} MB\n",
               one.method, one.topology, outcome.hosts, one.gap, one.seconds_allowed, outcome.seconds,
               usage.cpu_seconds, outcome.gap(), outcome.time, outcome.paths, usage.peak_memory / 1e6);
  else if (format == Format::csv)
    fmt::print("{},{},{},{},{:g},{:g},{:.4g},{:.4g},{:.4g},{:.9g},{:.9g},{:.0f},{:.0f}\n", one.method, one.topology,
               outcome.hosts, outcome.links, one.gap, one.seconds_allowed, outcome.seconds, usage.cpu_seconds,
               outcome.gap(), outcome.time, outcome.time_lower, outcome.paths, usage.peak_memory);
  else
    fmt::print(
        "{}\n  {{\"method\": \"{}\", \"topology\": \"{}\", \"hosts\": {}, \"links\": {}, \"gap_asked\": {:g}, "
        "\"seconds_allowed\": {:g}, \"seconds\": {:.4g}, \"cpu_seconds\": {:.4g}, \"gap\": {:.4g}, "
        "\"time\": {:.9g}, \"time_lower\": {:.9g}, \"paths\": {:.0f}, \"peak_memory_bytes\": {:.0f}}}",
        first ? "" : ",", one.method, one.topology, outcome.hosts, outcome.links, one.gap, one.seconds_allowed,
        outcome.seconds, usage.cpu_seconds, outcome.gap(), outcome.time, outcome.time_lower, outcome.paths,
        usage.peak_memory);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Time, certified gap and memory of the all-to-all's optimum and flow");
  int threads = 0;
  std::string only;
  bool json = false, csv = false, scaling = false;
  app.add_option("--threads", threads, "threads of a case (0: all cores)");
  app.add_option("--only", only, "cases whose \"method topology gap\" contains this");
  app.add_flag("--scaling", scaling, "kautz:N:4 of N = 64 to 4,096");
  app.add_flag("--json", json, "one JSON object");
  app.add_flag("--csv", csv, "one line per case");
  CLI11_PARSE(app, argc, argv);

  const Format format = json ? Format::json : csv ? Format::csv : Format::table;
  bool all_met = true, first = true;
  try {
    print_head(format);
    for (const Case& one : scaling ? scaling_cases() : k_cases) {
      if (fmt::format("{} {} {:g}", one.method, one.topology, one.gap).find(only) == std::string::npos) continue;
      Outcome outcome;
      Usage usage;
      if (!run(one, threads, outcome, usage)) {
        all_met = false;
        continue;
      }
      print_case(format, first, one, outcome, usage);
      first = false;
      all_met = all_met && outcome.gap() <= one.gap && outcome.seconds <= one.seconds_allowed;
    }
    if (format == Format::json) fmt::print("\n], \"met\": {}}}\n", all_met);
  } catch (const Error& error) {
    fmt::print(stderr, "colltopo-bench-flow: {}\n", error.what());
    return 2;
  }
  return all_met ? 0 : 1;
}
