// How long do the optimum and its trees take, and how much memory? One process per case, so that peaks are its own:
// colltopo-bench-forest [TOPO...] prints a line for each.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "colltopo/forest.h"

namespace {

using namespace colltopo;

template <typename Work>
double seconds(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void measure(const std::string& spec) {
  const Topology topology = topology_of(spec);
  ForestOptimum optimum;
  Forest forest;
  const double bound_s = seconds([&] { optimum = forest_optimum(topology); });
  const double forest_s = seconds([&] { forest = pack_forest(topology); });
  const double schedule_s = seconds([&] { forest_schedule(topology, forest, Collective::allgather); });
  struct rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  fmt::print("{:<14} {:>5} {:>9.3f} {:>9.3f} {:>9.3f} {:>6} {:>6} {:>7} {:>9.1f}\n", spec, topology.hosts(), bound_s,
             forest_s, schedule_s, forest.achieved.trees, forest.out.height(), forest.out.trees.size(),
             static_cast<double>(usage.ru_maxrss) / 1024);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> cases(argv + 1, argv + argc);
  if (cases.empty())
    cases = {"dgx-a100:1", "dgx-a100:2", "dgx-a100:4", "dgx-a100:16", "dgx-a100:128",
             "mi250:1",    "mi250:2:8",  "mi250:2",    "mi250:8"};
  fmt::print("{:<14} {:>5} {:>9} {:>9} {:>9} {:>6} {:>6} {:>7} {:>9}\n", "topology", "hosts", "optimum_s", "trees_s",
             "lower_s", "k", "height", "trees", "peak_MiB");
  std::fflush(stdout);
  int failed = 0;
  for (const std::string& spec : cases) {
    const pid_t child = fork();
    if (child == 0) {
      try {
        measure(spec);
        _exit(0);
      } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        _exit(2);
      }
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0) failed = 2;
  }
  return failed;
}
