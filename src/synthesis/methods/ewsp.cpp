// Shortest paths of a pair, all or evenly spread; their loads by counting.
//
// Of the paths from s that end in w, the share count(v) / count(w) arrives over the link (v, w) of a shortest path;
// going from the farthest node to the nearest, a node passes on what ends in it and beyond it (Brandes 2001, "A faster
// algorithm for betweenness centrality").
#include "synthesis/methods/ewsp.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/parallel.h"
#include "synthesis/methods.h"
#include "synthesis/paths/candidate_paths.h"
#include "synthesis/paths/path_sets.h"

namespace colltopo::synthesis {

namespace {

/// Adds the loads of one source.
class Counting {
 public:
  explicit Counting(const Topology& topology)
      : topology_(topology), count_(static_cast<std::size_t>(topology.nodes())), beyond_(count_.size()) {}

  void add(NodeId source, std::vector<double>& loads) {
    const PathsFrom from(topology_, source);
    order_.assign(1, source);
    std::fill(count_.begin(), count_.end(), 0.0);
    count_[at(source)] = 1;
    for (std::size_t next = 0; next < order_.size(); ++next) {
      const NodeId node = order_[next];
      for (const LinkId link : topology_.links_out(node)) {
        const NodeId head = topology_.link(link).head;
        if (from.hops(head) != from.hops(node) + 1) continue;
        if (count_[at(head)] == 0) order_.push_back(head);
        count_[at(head)] += count_[at(node)];
      }
    }
    for (const NodeId node : order_) beyond_[at(node)] = topology_.is_host(node) ? 1 : 0;
    for (std::size_t next = order_.size(); next-- > 1;) {
      const NodeId node = order_[next];
      const double per_path = beyond_[at(node)] / count_[at(node)];
      for (const LinkId link : topology_.links_in(node)) {
        const NodeId tail = topology_.link(link).tail;
        if (from.hops(tail) < 0 || from.hops(tail) != from.hops(node) - 1) continue;
        const double load = per_path * count_[at(tail)];
        loads[at(link)] += load;
        beyond_[at(tail)] += load;
      }
    }
  }

 private:
  static std::size_t at(std::int32_t index) { return static_cast<std::size_t>(index); }

  const Topology& topology_;
  std::vector<double> count_, beyond_;
  std::vector<NodeId> order_;
};

std::string ewsp_refusal(const Topology&, const SynthesisOptions&) { return ""; }

Synthesis make_ewsp(const Topology& topology, const SynthesisOptions& options) {
  SynthesisOptions shortest;
  shortest.path_set = PathSet::shortest;
  shortest.threads = options.threads;
  CandidatePaths candidates = candidate_paths(topology, shortest);
  Synthesis synthesis;
  synthesis.bound.loads = equal_weight_loads(topology, options.threads);
  synthesis.bound.time = all_to_all_time(topology, synthesis.bound.loads);
  if (candidates.capped_pairs > 0)
    synthesis.remark = fmt::format(
        "{} pairs have more than {} shortest paths and take that many of them; all of them would take {:.8g}",
        candidates.capped_pairs, k_most_candidates, synthesis.bound.time);
  synthesis.routing = std::move(candidates.paths);
  return synthesis;
}

}  // namespace

std::vector<double> equal_weight_loads(const Topology& topology, int threads) {
  // A fixed number of partial sums, added in order: the same result for any number of threads.
  constexpr std::size_t k_sums = 16;
  std::array<std::vector<double>, k_sums> sums;
  for_each_index(k_sums, threads, [&](std::size_t sum, unsigned) {
    sums[sum].assign(topology.links().size(), 0.0);
    Counting counting(topology);
    for (std::size_t source = sum; source < static_cast<std::size_t>(topology.hosts()); source += k_sums)
      counting.add(static_cast<NodeId>(source), sums[sum]);
  });
  for (std::size_t sum = 1; sum < k_sums; ++sum)
    for (std::size_t link = 0; link < sums[0].size(); ++link) sums[0][link] += sums[sum][link];
  return sums[0];
}

RoutingMethod ewsp_method() {
  return {"ewsp", "the same weight on every shortest path of a pair (EwSP)", ewsp_refusal, make_ewsp};
}

}  // namespace colltopo::synthesis
