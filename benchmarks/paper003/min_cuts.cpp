// Do trees exist? By flows, and by one run of Hao and Orlin's algorithm, ours and LEMON's.
//
//   colltopo-bench-min-cuts [TOPO...]        CSV; milliseconds of the processor, one thread, the least of five runs
//
// Every network is made what packing works on: the links between hosts that are left when its switches are taken out,
// with whole numbers of trees. A source feeds every host its trees; they exist when a minimum cut between the source
// and any host has all of them (src/forest/spanning_test.h). Asked twice: of the network whole, and with every tenth
// edge one tree narrower, so that some host gets too few. Both must say the same.
#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "colltopo/error.h"
#include "colltopo/forest.h"
#include "forest/parts.h"
#include "forest/spanning_test.h"
#include "forest/tree_packing.h"
#include "own_process.h"
#include "paper003/hao_orlin.h"

namespace {

using namespace colltopo;

struct Network {
  NodeId hosts = 0;
  std::vector<CapacityEdge> edges;
  std::vector<Capacity> roots;

  Capacity all_trees() const { return std::accumulate(roots.begin(), roots.end(), Capacity{0}); }
  SpanningQuestion question() const { return {hosts, hosts, edges, roots}; }
};

Network network_of(const Topology& topology) {
  const FixedForest wanted = fixed_forest(topology, forest_optimum(topology, 1).trees, 1);
  Network network;
  network.hosts = topology.hosts();
  network.roots.assign(static_cast<std::size_t>(topology.hosts()), wanted.trees);
  const std::vector<Capacity> of_link =
      trees_per_link(topology.name(), whole_bandwidths(topology), wanted.capacity_per_unit, network.all_trees());
  for (const LogicalEdge& edge : without_switches(topology, of_link, network.roots, 1))
    network.edges.push_back({edge.tail, edge.head, edge.capacity()});
  return network;
}

void narrow(Network& network) {
  for (std::size_t edge = 0; edge < network.edges.size(); edge += 10) --network.edges[edge].capacity;
}

/// The least over all hosts, each by a flow from nothing.
Capacity least_flow(const Network& network) {
  std::vector<CapacityEdge> edges = network.edges;
  for (NodeId host = 0; host < network.hosts; ++host)
    edges.push_back({network.hosts, host, network.roots[static_cast<std::size_t>(host)]});
  MaxFlow flow(network.hosts + 1, edges);
  Capacity least = std::numeric_limits<Capacity>::max();
  for (NodeId host = 0; host < network.hosts; ++host) {
    flow.clear();
    least = std::min(least, flow.push(network.hosts, host, network.all_trees()));
  }
  return least;
}

/// The same by LEMON.
Capacity cut_of_lemon(const Network& network) {
  std::vector<Arc> arcs;
  for (const CapacityEdge& edge : network.edges) arcs.push_back({edge.tail, edge.head, edge.capacity});
  for (NodeId host = 0; host < network.hosts; ++host)
    arcs.push_back({network.hosts, host, network.roots[static_cast<std::size_t>(host)]});
  return hao_orlin(network.hosts + 1, network.hosts, arcs);
}

template <typename Work>
double best_ms(const Work& work) {
  double best = std::numeric_limits<double>::infinity();
  for (int run = 0; run < 5; ++run) best = std::min(best, 1e3 * seconds(CLOCK_PROCESS_CPUTIME_ID, work));
  return best;
}

/// Rows of both questions; false when an answer differs.
bool measure(const Topology& topology) {
  bool same = true;
  Network network = network_of(topology);
  const double packing_ms = best_ms([&] { pack_trees(network.hosts, network.edges, network.roots); });
  for (const char* const what : {"whole", "narrowed"}) {
    if (what[0] == 'n') narrow(network);
    std::size_t cuts = 0;
    Capacity flow = 0, cut = 0;
    bool narrower = false;
    const double kept_ms = best_ms([&] { cuts = violated_cuts(network.question(), 1).size(); });
    const double flows_ms = best_ms([&] { flow = least_flow(network); });
    const double cut_ms = best_ms([&] { narrower = worst_violated_cut(network.question()).has_value(); });
    const double lemon_ms = best_ms([&] { cut = cut_of_lemon(network); });
    const bool agree = flow == cut && narrower == (cuts > 0) && narrower == (cut < network.all_trees());
    fmt::print("{},{},{},{},{},{},{:.4f},{:.4f},{:.4f},{:.4f},{:.4f},{}\n", topology.name(), network.hosts,
               network.edges.size(), what, network.all_trees() - cut, cuts, kept_ms, flows_ms, cut_ms, lemon_ms,
               packing_ms, agree ? "yes" : "no");
    same = same && agree;
  }
  return same;
}

/// Strongly connected: a ring, and as many links again and again at random, with bandwidths of 1 to 10 GB/s.
Topology random_network(unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](unsigned end) { return static_cast<NodeId>(random() % end); };
  const NodeId hosts = 8 + below(121);
  TopologyBuilder network(fmt::format("random {}", seed), hosts);
  const auto add = [&](NodeId tail, NodeId head) {
    if (tail != head) network.link(tail, head, 1e9 * (1 + below(10)));
  };
  for (NodeId host = 0; host < hosts; ++host) add(host, (host + 1) % hosts);
  for (NodeId link = 0; link < 3 * hosts; ++link)
    add(below(static_cast<unsigned>(hosts)), below(static_cast<unsigned>(hosts)));
  return std::move(network).build();
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> cases(argv + 1, argv + argc);
  const bool random = cases.empty();
  if (random)
    cases = {"torus:8x8",   "torus:16x16", "torus:8x8x8", "fattree:8",  "dgx-a100:8",
             "dgx-a100:64", "mi250:4:8",   "mi250:4",     "hyperx:8x8", "jellyfish:256:4"};
  fmt::print("topology,hosts,edges,question,short,cuts,kept_flows_ms,flows_ms,cut_ms,lemon_ms,packing_ms,same\n");
  int failed = 0;
  const auto run = [&](const auto& topology) {
    if (!in_own_process([&] {
          if (!measure(topology())) throw Error(topology().name() + ": flows and Hao-Orlin differ");
        }))
      failed = 2;
  };
  for (const std::string& spec : cases) run([&] { return topology_of(spec); });
  if (random)
    for (unsigned seed = 1; seed <= 50; ++seed) run([&] { return random_network(seed); });
  return failed;
}
