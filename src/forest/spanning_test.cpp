// Flows from the source to one host after the other, each made from the one before; or all in one run.
#include "forest/spanning_test.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <numeric>

#include "base/parallel.h"
#include "forest/least_cut.h"

namespace colltopo {

namespace {

constexpr NodeId k_sinks_per_block = 16;

Capacity all_trees(const SpanningQuestion& question) {
  return std::accumulate(question.roots.begin(), question.roots.end(), Capacity{0});
}

/// The source is the last node.
std::vector<CapacityEdge> with_source(const SpanningQuestion& question) {
  std::vector<CapacityEdge> edges(question.edges.begin(), question.edges.end());
  for (NodeId host = 0; host < question.hosts; ++host)
    if (question.roots[static_cast<std::size_t>(host)] > 0)
      edges.push_back({question.nodes, host, question.roots[static_cast<std::size_t>(host)]});
  return edges;
}

/// The network with its source, and one copy of it per thread.
class SinkFlows {
 public:
  SinkFlows(const SpanningQuestion& question, int threads)
      : source_(question.nodes),
        total_(all_trees(question)),
        network_(question.nodes + 1, with_source(question)),
        of_worker_(worker_count(threads)) {}

  NodeId source() const { return source_; }

  /// Calls short_of(network, sink) for the first sink in [first, end) that does not get all trees.
  template <typename Visit>
  void find_short(NodeId first, NodeId end, unsigned worker, const Visit& short_of) {
    std::optional<MaxFlow>& network = of_worker_[worker];
    if (!network) network.emplace(network_);
    network->clear();
    NodeId holder = source_;  // of all that flows
    for (NodeId sink = first; sink < end; ++sink) {
      if (network->push(holder, sink, total_) < total_) return short_of(*network, sink);
      holder = sink;
    }
  }

 private:
  NodeId source_;
  Capacity total_;
  MaxFlow network_;
  std::vector<std::optional<MaxFlow>> of_worker_;
};

std::size_t blocks_of(NodeId hosts) {
  return static_cast<std::size_t>((hosts + k_sinks_per_block - 1) / k_sinks_per_block);
}

NodeId first_of(std::size_t block) { return static_cast<NodeId>(block) * k_sinks_per_block; }

}  // namespace

bool trees_exist(const SpanningQuestion& question, int threads) {
  SinkFlows flows(question, threads);
  std::atomic<bool> all = true;
  for_each_index(blocks_of(question.hosts), threads, [&](std::size_t block, unsigned worker) {
    if (!all) return;
    flows.find_short(first_of(block), std::min(first_of(block + 1), question.hosts), worker,
                     [&](const MaxFlow&, NodeId) { all = false; });
  });
  return all;
}

std::vector<std::vector<bool>> violated_cuts(const SpanningQuestion& question, int threads) {
  SinkFlows flows(question, threads);
  std::vector<std::vector<bool>> cuts(blocks_of(question.hosts));
  for_each_index(cuts.size(), threads, [&](std::size_t block, unsigned worker) {
    flows.find_short(first_of(block), std::min(first_of(block + 1), question.hosts), worker,
                     [&](const MaxFlow& network, NodeId) {
                       std::vector<bool>& inside = cuts[block];
                       inside.resize(static_cast<std::size_t>(question.nodes));
                       for (NodeId node = 0; node < question.nodes; ++node)
                         inside[static_cast<std::size_t>(node)] = network.is_reached(node);
                     });
  });
  std::erase_if(cuts, [](const std::vector<bool>& inside) { return inside.empty(); });
  return cuts;
}

std::optional<std::vector<bool>> worst_violated_cut(const SpanningQuestion& question) {
  assert(question.hosts == question.nodes);
  LeastCut cut = least_cut(question.nodes + 1, with_source(question), question.nodes);
  if (cut.capacity >= all_trees(question)) return std::nullopt;
  cut.inside.pop_back();
  return std::move(cut.inside);
}

}  // namespace colltopo
