// colltopo-bench-flow: what the optimum of the all-to-all costs: seconds, processor seconds, gap reached and peak
// memory for each case, every case in a process of its own.
//
//   colltopo-bench-flow [--csv | --json] [SUBSTRING]     only cases whose topology contains it
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <iostream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "colltopo/synthesis.h"

namespace {

using namespace colltopo;

struct Case {
  std::string topology;
  bool symmetry;
  double gap;
};

const std::vector<Case> k_cases = {
    {"kautz:256:4", true, 1e-2},       {"kautz:256:4", true, 1e-9},       {"kautz:1000:4", true, 1e-2},
    {"kautz:1000:4", true, 1e-3},      {"kautz:1000:4", true, 1e-6},      {"kautz:1000:4", true, 1e-9},
    {"kautz:4096:4", true, 1e-2},      {"kautz:4096:4", true, 5e-3},      {"torus:64x64", true, 1e-9},
    {"torus:16x16x16", true, 1e-9},    {"hypercube:12", true, 1e-9},      {"torus:32x64", true, 1e-6},
    {"kautz:100:4", false, 1e-2},      {"kautz:100:4", false, 1e-6},      {"kautz:256:4", false, 1e-2},
    {"kautz:256:4", false, 1e-6},      {"kautz:512:4", false, 1e-2},      {"kautz:512:4", false, 1e-3},
    {"kautz:1000:4", false, 1e-2},     {"kautz:1000:4", false, 1e-3},     {"kautz:1000:4", false, 1e-6},
    {"jellyfish:1000:4", false, 1e-2}, {"jellyfish:1000:4", false, 1e-3}, {"torus:32x32/drop-links:5:1", false, 1e-3},
};

struct Outcome {
  NodeId hosts = 0;
  double seconds = 0, cpu_seconds = 0, time_lower = 0, gap = 0;
  long peak_memory_bytes = 0;
};

/// What a child tells its parent.
struct Answer {
  NodeId hosts;
  double seconds, time_lower, gap;
};

Answer solve(const Case& what) {
  const Topology topology = topology_of(what.topology);
  SynthesisOptions options;
  options.gap = what.gap;
  options.symmetry = what.symmetry;
  const auto began = std::chrono::steady_clock::now();
  const FlowBound bound = alltoall_bound(topology, options);
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - began;
  return {topology.hosts(), passed.count(), bound.time_lower, bound.gap()};
}

/// False when the case did not come to its end.
bool measure(const Case& what, Outcome& outcome) {
  int ends[2];
  if (pipe(ends) != 0) return false;
  const pid_t child = fork();
  if (child == 0) {
    const Answer answer = solve(what);
    const bool told = write(ends[1], &answer, sizeof answer) == sizeof answer;
    _exit(told ? 0 : 1);
  }
  close(ends[1]);
  Answer answer = {};
  const bool told = child > 0 && read(ends[0], &answer, sizeof answer) == sizeof answer;
  close(ends[0]);
  struct rusage usage = {};
  if (child > 0) wait4(child, nullptr, 0, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  outcome = {answer.hosts,      answer.seconds, seconds(usage.ru_utime) + seconds(usage.ru_stime),
             answer.time_lower, answer.gap,     usage.ru_maxrss * 1024};
  return told;
}

}  // namespace

int main(int argc, char** argv) {
  std::string form;
  std::string part;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--csv" || argument == "--json")
      form = argument;
    else if (argument.starts_with("-")) {
      std::cerr << "usage: colltopo-bench-flow [--csv | --json] [SUBSTRING]\n";
      return 2;
    } else
      part = argument;
  }
  if (form == "--csv")
    std::cout << "topology,hosts,symmetry,gap_asked,seconds,cpu_seconds,gap,inverse_F_lower,peak_memory_bytes\n";
  else if (form.empty())
    std::cout << fmt::format("{:<26} {:>5} {:<7} {:>7} {:>9} {:>9} {:>9} {:>14} {:>9}\n", "topology", "hosts", "method",
                             "asked", "seconds", "CPU s", "gap", "1/F at least", "MiB");
  std::string objects;
  int status = 0;
  for (const Case& what : k_cases) {
    if (what.topology.find(part) == std::string::npos) continue;
    Outcome it;
    if (!measure(what, it)) {
      std::cerr << "colltopo-bench-flow: " << what.topology << ": did not come to its end\n";
      status = 1;
      continue;
    }
    if (it.gap > what.gap) status = 1;
    if (form == "--csv")
      std::cout << fmt::format("{},{},{},{:g},{:.4f},{:.4f},{:.3e},{:.9g},{}\n", what.topology, it.hosts, what.symmetry,
                               what.gap, it.seconds, it.cpu_seconds, it.gap, it.time_lower, it.peak_memory_bytes);
    else if (form == "--json")
      objects +=
          fmt::format(R"({}    {{"topology": "{}", "hosts": {}, "symmetry": {}, "gap_asked": {:g}, "seconds": {:.4f}, )"
                      R"("cpu_seconds": {:.4f}, "gap": {:.3e}, "inverse_F_lower": {:.9g}, "peak_memory_bytes": {}}})",
                      objects.empty() ? "" : ",\n", what.topology, it.hosts, what.symmetry, what.gap, it.seconds,
                      it.cpu_seconds, it.gap, it.time_lower, it.peak_memory_bytes);
    else
      std::cout << fmt::format("{:<26} {:>5} {:<7} {:>7g} {:>9.3f} {:>9.3f} {:>9.2e} {:>14.9g} {:>9.1f}\n",
                               what.topology, it.hosts, what.symmetry ? "orbits" : "whole", what.gap, it.seconds,
                               it.cpu_seconds, it.gap, it.time_lower,
                               static_cast<double>(it.peak_memory_bytes) / 1048576)
                << std::flush;
  }
  if (form == "--json") std::cout << "{\n  \"results\": [\n" << objects << "\n  ]\n}\n";
  return status;
}
