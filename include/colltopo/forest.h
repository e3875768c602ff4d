// ForestColl (Zhao et al., "ForestColl: Throughput-Optimal Collective Communications on Heterogeneous Network
// Fabrics"): the time of the best allgather on any network.
//
// Every host broadcasts its shard along trees that span the hosts; switches only relay. No allgather beats the
// narrowest cut: what is inside must get out (equation 1). Trees that reach this bound exist on every network, and all
// numbers here are exact.
#pragma once

#include <cstdint>
#include <vector>

#include "colltopo/schedule.h"
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

/// Part of a tree's edge: `chunks` of the tree's take this route.
struct TreePart {
  std::int32_t route = 0;  // of the packing
  Chunk chunks = 0;
};

/// From a host to another, through switches.
struct TreeEdge {
  NodeId tail = 0;
  NodeId head = 0;
  std::int32_t depth = 1;        // of its head; roots have 0
  std::uint32_t first_part = 0;  // of the packing; its parts carry all chunks of the tree, in order
  std::uint32_t parts = 0;
};

/// Spans all hosts. `chunks` trees alike, each of which carries one chunk of the root's shard.
struct Tree {
  NodeId root = 0;
  Chunk chunks = 0;
  std::vector<TreeEdge> edges;  // an edge's tail is the root or the head of one before
};

/// Trees and the routes that they take: (source, target) increasing, those of a pair numbered by their lanes.
struct Packing {
  std::vector<Tree> trees;  // by root
  std::vector<TreePart> parts;
  std::vector<Route> routes;

  std::int32_t height() const;
};

struct Forest {
  FixedForest achieved;    // by broadcasts; its `trees` are the chunks of a shard
  FixedForest reductions;  // likewise; as fast where as much bandwidth enters every node as leaves it
  Packing out;             // trees that broadcast
  /// Trees that reduce: those of a broadcast in the network with all links turned round, the routes being of this one,
  /// from head to tail. Empty where every link has one of equal bandwidth the other way: there the trees of `out`
  /// serve.
  Packing in;
};

/// Up to so many trees per host the optimum's are packed where nobody says how many; else the best of fewer than ten.
inline constexpr std::int64_t k_most_trees_default = 128;

struct ForestOptions {
  std::int64_t trees = 0;  // per host; 0: the optimum's, if they are not more than k_most_trees_default
  bool few = false;        // with trees = 0: the best of fewer than ten (section 4.5)
  int threads = 0;         // 0: all; trees are the same for any number
};

/// Throws Error as fixed_forest() does, and where switches of unequal bandwidth in and out cannot be left out.
Forest pack_forest(const Topology& topology, const ForestOptions& options = {});

/// One message per part of a tree's edge, in the step of its depth; rank r runs on host r. reduce_scatter and reduce
/// run trees backwards, allreduce is reduce_scatter and then allgather; `root` is that of bcast and reduce, which take
/// the trees of that host. Throws Error for alltoall.
Schedule forest_schedule(const Topology& topology, const Forest& forest, Collective collective, Rank root = 0);

/// Every link from its head to its tail, with its number: the optimum of a reduce_scatter is that of an allgather
/// there.
Topology transposed(const Topology& topology);

/// The network of a group of hosts, renumbered in order. The others relay as switches do, or they are gone with their
/// links, which throws Error when the group is cut apart.
enum class Others : std::uint8_t { gone, relay };
Topology group_topology(const Topology& machine, const std::vector<bool>& takes_part, Others others);

}  // namespace colltopo
