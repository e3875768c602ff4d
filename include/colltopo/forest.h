// ForestColl (Zhao et al., "ForestColl: Throughput-Optimal Collective Communications on Heterogeneous Network
// Fabrics"): the best collectives along trees on any network.
//
// In an allgather every host spreads its shard along trees that span the hosts; switches only relay. Nothing beats the
// narrowest cut: what is inside must get out (equation 1). A bcast is the same with one root, and what reduces runs
// trees backwards. All numbers here are exact but where it says otherwise.
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

/// The largest of roots inside over bandwidth out, over all sets of nodes that do not contain every host. No schedule
/// is faster; trees are as fast if is_attained().
struct ForestOptimum {
  NodeId hosts = 0;
  NodeId roots = 0;  // hosts that spread something: all, or the one of a bcast
  /// Bytes per second; every bandwidth, rounded to whole bytes per second, is a multiple (units.h on slow links).
  double unit = 1;
  Ratio inverse_x;  // 1/x*: roots over units of bandwidth
  /// k: the fewest trees per root of which every link carries a whole number when all are as fast as the optimum
  /// (Proposition 3). Fewer may do where not every link is needed whole.
  std::int64_t trees = 0;
  Ratio capacity_per_unit;  // U: trees that cross a link per unit of its bandwidth; U / k = 1/x*

  /// The certificate: a set that attains the largest ratio.
  std::vector<bool> inside;  // [node]
  NodeId hosts_inside = 0;
  NodeId roots_inside = 0;
  std::int64_t bandwidth_out = 0;  // units

  /// Per byte of a shard of an allgather, or of the vector of a bcast.
  double seconds_per_byte() const { return inverse_x.value() / unit; }
  /// Bytes of all shards together over the time, as nccl-tests defines algorithmic bandwidth.
  double algorithmic_bandwidth() const { return roots / seconds_per_byte(); }
};

/// Of an allgather; of a reduce_scatter it is that of transposed(). One to three rounds of a maximum flow per host in
/// practice (Dinkelbach's iteration; the paper bisects: Algorithm 1). `threads`: 0 means all; the result is the same
/// for any number. Throws Error when there is one host only, when hosts cannot reach each other, and when bandwidths
/// are so unlike that their ratios or sums do not fit into 64 bits.
ForestOptimum forest_optimum(const Topology& topology, int threads = 0);

/// Of a bcast: the least maximum flow from the root to a host (Edmonds). Throws Error as above, and for a root that is
/// no host.
ForestOptimum bcast_optimum(const Topology& topology, NodeId root, int threads = 0);

/// Whether trees reach the optimum of what spreads: where no switch lets out more than comes in (Theorem 4; a switch
/// does not copy). Of what reduces it is that of transposed(). Otherwise `greedy` is the first switch that does.
bool is_attained(const Topology& topology, NodeId* greedy = nullptr);

/// What exactly `trees` trees per root can do (Algorithm 3): the least U with which they fit into links of floor(U
/// times bandwidth) trees.
struct FixedForest {
  NodeId roots = 0;  // as above
  double unit = 1;   // as above
  std::int64_t trees = 0;
  Ratio capacity_per_unit;  // U

  double seconds_per_byte() const { return capacity_per_unit.value() / (static_cast<double>(trees) * unit); }
  double algorithmic_bandwidth() const { return roots / seconds_per_byte(); }
};

/// Throws Error as forest_optimum() does, and when `trees` is less than 1.
FixedForest fixed_forest(const Topology& topology, std::int64_t trees, int threads = 0);
FixedForest fixed_bcast(const Topology& topology, NodeId root, std::int64_t trees, int threads = 0);

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

/// Spans all hosts. `chunks` trees alike, each of which carries one chunk of what the root spreads.
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

/// What a collective needs, and no more.
struct Forest {
  Collective collective = Collective::allgather;
  Rank root = 0;             // of bcast and reduce
  std::vector<Chunk> roots;  // [host] trees rooted there: chunks of what it spreads, or of what is reduced to it
  /// Chunks of a shard; of the vector of a bcast or reduce; of an allreduce, of the vector over the hosts.
  Chunk chunks = 0;
  /// No link is busy for longer, per byte of a call's count: of a shard; of the vector of a bcast, reduce or allreduce.
  double seconds_per_byte = 0;
  Packing out;  // trees that broadcast
  /// Trees that reduce: those of a broadcast in the network with all links turned round, the routes being of this one,
  /// from head to tail.
  Packing in;

  std::int32_t height() const;
};

/// Up to so many trees per root are packed where nobody says how many: the optimum's if they are not more, else the
/// first number whose time is within k_loss_default of the optimum, or the best of those tried: all small ones, then in
/// steps of a fifth.
inline constexpr std::int64_t k_most_trees_default = 128;
inline constexpr double k_loss_default = 1e-3;

struct ForestOptions {
  Collective collective = Collective::allgather;
  Rank root = 0;           // of bcast and reduce
  std::int64_t trees = 0;  // per root; 0: as above
  bool few = false;        // with trees = 0: the best of fewer than ten (section 4.5)
  bool optimum = false;    // with trees = 0: the optimum's, however many
  int threads = 0;         // 0: all; trees are the same for any number
};

/// An allreduce is packed as the best reduce_scatter and then the best allgather; pack_allreduce() of allreduce_bound.h
/// knows better. Throws Error as fixed_forest() does, for alltoall, and where switches of unequal bandwidth in and out
/// cannot be left out. Time: the optimum's; a maximum flow per host for each class of switches that is taken out, or
/// for each pair of ports where no even spread will do; trees in O(edges between hosts) each, proved by one least cut
/// (O(hosts^2 * sqrt(edges))) for many of them (docs/decisions/0029).
Forest pack_forest(const Topology& topology, const ForestOptions& options = {});

/// One message per part of a tree's edge, in the step of its depth; rank r runs on host r. What reduces runs trees
/// backwards, an allreduce that and then a broadcast of each root. `forest` must have been packed for this topology.
Schedule forest_schedule(const Topology& topology, const Forest& forest);

/// Every link from its head to its tail, with its number: the optimum of a reduce_scatter is that of an allgather
/// there.
Topology transposed(const Topology& topology);

/// The network of a group of hosts, renumbered in order. The others relay as switches do, or they are gone with their
/// links, which throws Error when the group is cut apart.
enum class Others : std::uint8_t { gone, relay };
Topology group_topology(const Topology& machine, const std::vector<bool>& takes_part, Others others);

}  // namespace colltopo
