// Figure 11 of Faraj, Patarasuk and Yuan: the longest paths of LR1's and LR3's rings on random clusters, mean of 50
// graphs, for three ways of finding the spanning tree. Prints CSV; on standard error, how long the slowest ring took.
//
//   colltopo-bench-rings [MACHINES...]
//
// Clusters are those of section 5.2 (random_cluster.h).
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <vector>

#include "colltopo/rings.h"
#include "random_cluster.h"

namespace {

using colltopo::k_machines_per_switch;
using colltopo::NodeId;
using colltopo::random_cluster;

constexpr int k_graphs = 50;
/// The largest of the seconds seen.
class Slowest {
 public:
  std::vector<colltopo::Rank> time(const colltopo::RingMethod& method, const colltopo::Topology& topology,
                                   const colltopo::SpanningTree& tree) {
    const auto begin = std::chrono::steady_clock::now();
    std::vector<colltopo::Rank> order = method.order(topology, tree);
    seconds_ = std::max(seconds_, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    return order;
  }
  double seconds() const { return seconds_; }

 private:
  double seconds_ = 0;
};

void print_row(NodeId machines) {
  std::printf("%d", machines);
  for (const char* name : {"lr1", "lr3"}) {
    Slowest slowest;
    for (const char* search : {"bfs", "dfs", "random"}) {
      int sum = 0;
      for (unsigned seed = 1; seed <= k_graphs; ++seed) {
        const colltopo::Topology topology = random_cluster(machines, seed);
        const colltopo::SpanningTree tree =
            colltopo::spanning_tree(topology, *colltopo::tree_search_named(search), seed);
        const colltopo::RingFacts facts =
            facts_of(tree, slowest.time(*colltopo::ring_method_named(name), topology, tree));
        if (!facts.contention_free()) throw std::runtime_error("a ring with contention");
        sum += facts.longest_path;
      }
      std::printf(",%.2f", static_cast<double>(sum) / k_graphs);
    }
    std::fprintf(stderr, "%s on %d machines: %.3g s at most\n", name, machines, slowest.seconds());
  }
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** words) {
  try {
    std::vector<NodeId> sizes;
    for (int i = 1; i < count; ++i) {
      char* end = nullptr;
      const long machines = std::strtol(words[i], &end, 10);
      if (*end != '\0' || machines < 6 * k_machines_per_switch || machines > 10000000) {
        std::fprintf(stderr, "colltopo-bench-rings: MACHINES '%s'; expected a number from %d\n", words[i],
                     6 * k_machines_per_switch);
        return 2;
      }
      sizes.push_back(static_cast<NodeId>(machines));
    }
    if (sizes.empty()) sizes = {50, 100, 200, 500, 1000, 2000, 5000};
    std::printf("machines,LR1 BFS,LR1 DFS,LR1 random,LR3 BFS,LR3 DFS,LR3 random\n");
    for (const NodeId machines : sizes) print_row(machines);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "colltopo-bench-rings: %s\n", error.what());
    return 1;
  }
}
