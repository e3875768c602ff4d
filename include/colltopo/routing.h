// An all-to-all routing: for every ordered pair of hosts, the paths that its data takes and the share of each.
//
// What every method of Basu et al. section 3 ends in: MCF with extracted paths, path MCF, FPTAS, SSSP, ILP,
// equal-weight shortest paths, dimension order. A demand of one unit per ordered pair makes the load of a link the sum
// of the weights of the paths over it; the largest load over capacity is the time of the all-to-all (1/F), capacities
// being in units of the slowest link.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "colltopo/topology.h"

namespace colltopo {

/// Of a pair's demand: shares this small are left by rounding, and the pair's other paths take them over.
inline constexpr double k_least_share = 1e-9;

/// One of the paths of a pair; `links` points into the Routing.
struct WeightedPath {
  NodeId source = 0;
  NodeId target = 0;
  double weight = 0;  // share of the pair's demand, in (0, 1]
  std::span<const LinkId> links;
};

/// Paths sorted by (source, target), those of a pair in the order in which they were added. About 16 bytes per path and
/// 4 per link of a path.
class Routing {
 public:
  Routing() = default;
  explicit Routing(NodeId hosts) : hosts_(hosts) {}

  NodeId hosts() const { return hosts_; }
  std::size_t paths() const { return weights_.size(); }
  WeightedPath path(std::size_t index) const;
  /// Links of all paths together.
  std::size_t links() const { return links_.size(); }

  void reserve(std::size_t paths, std::size_t links);
  /// Pairs must come in increasing order of (source, target); asserted.
  void add(NodeId source, NodeId target, double weight, std::span<const LinkId> links);

 private:
  NodeId hosts_ = 0;
  std::vector<std::uint64_t> pairs_;  // [path] source * 2^32 + target
  std::vector<double> weights_;
  std::vector<std::uint64_t> first_link_{0};  // [path] into links_, and the end
  std::vector<LinkId> links_;
};

/// [link] bandwidth over that of the slowest link.
std::vector<double> capacities(const Topology& topology);

/// [link] sum of the weights of the paths over it.
std::vector<double> link_loads(const Topology& topology, const Routing& routing);

/// The largest load over capacity: the time of an all-to-all of unit shards, 1/F (Basu et al., 5.3).
double all_to_all_time(const Topology& topology, std::span<const double> loads);

/// What is wrong with a routing, "" if nothing: every ordered pair of different hosts has paths, their weights are
/// positive and sum to 1 within `tolerance`, links follow each other from source to target, no node is visited twice.
std::string routing_fault(const Topology& topology, const Routing& routing, double tolerance = 1e-9);

/// A routing of `before` on `after`, a network in which something broke, say; nodes are matched by name. Paths are kept
/// where all their nodes and links are still there, the shares of those that are lost go to the pair's others, and
/// pairs that have none left, or are new, take a shortest path. Throws Error when there is none.
Routing carried_over(const Topology& before, const Routing& routing, const Topology& after);

/// Lengths of the links of `before` for those of `after`: nodes are matched by name, links that are new get 0.
std::vector<double> carried_over(const Topology& before, std::span<const double> lengths, const Topology& after);

/// Both sides of the optimum. All times are for unit demand between every ordered pair of hosts: time = 1/F.
struct FlowBound {
  double time = 0;                 // of the flow at hand: an upper bound
  double time_lower = 0;           // no flow is faster; proved by `lengths`
  std::vector<double> lengths;     // [link] the certificate: time_lower = sum of distances / sum of length * capacity
  std::vector<double> loads = {};  // [link] of the flow at hand, where kept: time = the largest over capacity

  double gap() const { return time_lower > 0 ? time / time_lower - 1 : 1; }
};

/// The sum over ordered pairs of hosts of their distance under `lengths`, over the sum of length times capacity: by
/// linear programming duality no all-to-all is faster, whatever the lengths (all >= 0, one > 0). Threads: 0 = all.
double time_lower_bound(const Topology& topology, std::span<const double> lengths, int threads = 0);

}  // namespace colltopo
