// ForestColl (Zhao et al., "ForestColl: Throughput-Optimal Collective Communications on Heterogeneous Network
// Fabrics"): the time of the best allgather on any network.
//
// Every host broadcasts its shard along trees that span the hosts; switches only relay. No allgather beats the
// narrowest cut: what is inside must get out (equation 1). Trees that reach this bound exist on every network, and all
// numbers here are exact.
#pragma once

#include <cstdint>
#include <vector>

#include "colltopo/topology.h"

namespace colltopo {

/// In lowest terms, both above 0.
struct Ratio {
  std::int64_t numerator = 0;
  std::int64_t denominator = 1;

  double value() const { return static_cast<double>(numerator) / static_cast<double>(denominator); }
  friend bool operator==(const Ratio&, const Ratio&) = default;
};

/// The largest of hosts inside over bandwidth out, over all sets of nodes that do not contain every host.
struct ForestOptimum {
  NodeId hosts = 0;
  std::int64_t unit = 1;    // bytes per second; every bandwidth, rounded to whole bytes per second, is a multiple
  Ratio inverse_x;          // 1/x*: hosts over units of bandwidth
  std::int64_t trees = 0;   // k: the fewest trees per host that reach the optimum (Proposition 3)
  Ratio capacity_per_unit;  // U: trees that cross a link per unit of its bandwidth; U / k = 1/x*

  /// The certificate: a set that attains the largest ratio.
  std::vector<bool> inside;  // [node]
  NodeId hosts_inside = 0;
  std::int64_t bandwidth_out = 0;  // units

  /// Of an allgather, per byte of a shard.
  double seconds_per_byte() const { return inverse_x.value() / static_cast<double>(unit); }
  /// Bytes of all shards together over the time, as nccl-tests defines algorithmic bandwidth.
  double algorithmic_bandwidth() const { return hosts / seconds_per_byte(); }
};

/// `threads`: 0 means all; the result is the same for any number. Throws Error when there is one host only, when hosts
/// cannot reach each other, and when bandwidths are so unlike that their ratios do not fit into 64 bits.
ForestOptimum forest_optimum(const Topology& topology, int threads = 0);

/// What exactly `trees` trees per host can do (Algorithm 3): the least U with which they fit into links of floor(U
/// times bandwidth) trees.
struct FixedForest {
  NodeId hosts = 0;
  std::int64_t unit = 1;  // as above
  std::int64_t trees = 0;
  Ratio capacity_per_unit;  // U

  double seconds_per_byte() const {
    return capacity_per_unit.value() / (static_cast<double>(trees) * static_cast<double>(unit));
  }
  double algorithmic_bandwidth() const { return hosts / seconds_per_byte(); }
};

/// Throws Error as forest_optimum() does, and when `trees` is less than 1.
FixedForest fixed_forest(const Topology& topology, std::int64_t trees, int threads = 0);

}  // namespace colltopo
