// How long do LR1's and LR3's rings take, and how much memory? Clusters of the paper's section 5.2, a breadth-first
// tree, and one process for each number of machines, so that peaks are its own. Prints CSV; seconds are the
// processor's.
//
//   colltopo-bench-ring-seconds [MACHINES...]
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "colltopo/rings.h"
#include "own_process.h"
#include "random_cluster.h"

namespace {

using namespace colltopo;

void measure(NodeId machines) {
  constexpr clockid_t k_clock = CLOCK_PROCESS_CPUTIME_ID;
  const Topology topology = random_cluster(machines, 1);
  SpanningTree tree;
  std::vector<Rank> lr1, lr3;
  const double tree_s = seconds(k_clock, [&] { tree = spanning_tree(topology, TreeSearch::breadth_first); });
  const double lr1_s = seconds(k_clock, [&] { lr1 = lr1_order(topology, tree); });
  const double peak_lr1 = peak_MiB();
  const double lr3_s = seconds(k_clock, [&] { lr3 = lr3_order(topology, tree); });
  std::printf("%d,%d,%.6f,%.6f,%.6f,%d,%d,%.1f,%.1f\n", machines, topology.switches(), tree_s, lr1_s, lr3_s,
              facts_of(tree, lr1).longest_path, facts_of(tree, lr3).longest_path, peak_lr1, peak_MiB());
}

}  // namespace

int main(int count, char** words) {
  std::vector<NodeId> sizes;
  for (int i = 1; i < count; ++i) {
    char* end = nullptr;
    const long machines = std::strtol(words[i], &end, 10);
    if (*end != '\0' || machines < 6 * k_machines_per_switch || machines > 10000000) {
      std::fprintf(stderr, "colltopo-bench-ring-seconds: MACHINES '%s'; expected a number from %d\n", words[i],
                   6 * k_machines_per_switch);
      return 2;
    }
    sizes.push_back(static_cast<NodeId>(machines));
  }
  if (sizes.empty()) sizes = {1000, 2000, 3000, 5000, 7000, 10000};
  std::printf("machines,switches,tree_s,lr1_s,lr3_s,lr1_path,lr3_path,lr1_peak_MiB,peak_MiB\n");
  int failed = 0;
  for (const NodeId machines : sizes)
    if (!in_own_process([&] { measure(machines); })) failed = 1;
  return failed;
}
