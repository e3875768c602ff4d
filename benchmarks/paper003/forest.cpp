// How long do the optimum and its trees take, and how much memory? One process per case, so that peaks are its own.
//
//   colltopo-bench-forest [--csv] [TOPO...]
//
// A table by the clock on the wall, on all threads; with --csv by that of the processor, on one thread, for machines
// that others use too.
#include <cstdio>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "colltopo/forest.h"
#include "own_process.h"

namespace {

using namespace colltopo;

void measure(const std::string& spec, bool csv) {
  const clockid_t clock = csv ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC;
  const int threads = csv ? 1 : 0;
  const Topology topology = topology_of(spec);
  ForestOptimum optimum;
  Forest forest;
  const double bound_s = seconds(clock, [&] { optimum = forest_optimum(topology, threads); });
  const double forest_s = seconds(clock, [&] { forest = pack_forest(topology, {.threads = threads}); });
  const double schedule_s = seconds(clock, [&] { forest_schedule(topology, forest); });
  const char* const row = csv ? "{},{},{:.6f},{:.6f},{:.6f},{},{},{},{:.3f},{:.1f}\n"
                              : "{:<14} {:>5} {:>9.3f} {:>9.3f} {:>9.3f} {:>6} {:>6} {:>7} {:>10.2f} {:>9.1f}\n";
  fmt::print(fmt::runtime(row), spec, topology.hosts(), bound_s, forest_s, schedule_s, forest.chunks,
             forest.out.height(), forest.out.trees.size(), optimum.algorithmic_bandwidth() / 1e9, peak_MiB());
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> cases(argv + 1, argv + argc);
  const bool csv = !cases.empty() && cases.front() == "--csv";
  if (csv) cases.erase(cases.begin());
  if (cases.empty())
    cases = {"dgx-a100:2", "dgx-a100:4", "dgx-a100:8", "dgx-a100:16", "dgx-a100:32", "dgx-a100:64", "dgx-a100:128",
             "mi250:2:8",  "mi250:4:8",  "mi250:8:8",  "mi250:2",     "mi250:4",     "mi250:8"};
  const char* const head =
      csv ? "{},{},{},{},{},{},{},{},{},{}\n" : "{:<14} {:>5} {:>9} {:>9} {:>9} {:>6} {:>6} {:>7} {:>10} {:>9}\n";
  fmt::print(fmt::runtime(head), "topology", "hosts", "optimum_s", "trees_s", "lower_s", "k", "height", "trees",
             "bound_GBps", "peak_MiB");
  int failed = 0;
  for (const std::string& spec : cases)
    if (!in_own_process([&] { measure(spec, csv); })) failed = 2;
  return failed;
}
