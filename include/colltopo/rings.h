// Logical rings without contention (Faraj, Patarasuk, Yuan, "Bandwidth Efficient All-to-All Broadcast on Switched
// Clusters", sections 3 and 4): allgather, reduce-scatter and allreduce at the speed of one link, on any network.
//
// A tree that spans the hosts is enough: if every subtree's machines stand together on the ring (Lemma 2), no link
// carries two messages of a step in one direction. Among such rings the best has the shortest longest path. The length
// of a path is the number of its switches, as in the paper: 1 between machines of one switch.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "colltopo/schedule.h"
#include "colltopo/topology.h"

namespace colltopo {

enum class TreeSearch : std::uint8_t { breadth_first, depth_first, random };
/// "bfs", "dfs", "random".
std::optional<TreeSearch> tree_search_named(std::string_view name);

struct TreeSwitch {
  NodeId node = 0;           // a switch of the topology, or a host that forwards: a switch with itself as machine
  std::int32_t parent = -1;  // of SpanningTree::switches, as all of these
  LinkId to_parent = -1;
  LinkId from_parent = -1;
  std::int32_t depth = 0;
  std::vector<std::int32_t> children;
  std::vector<Rank> machines;
};

struct TreeMachine {
  std::int32_t at = 0;    // its switch
  LinkId to_switch = -1;  // -1: it is this switch
  LinkId from_switch = -1;
};

struct SpanningTree {
  std::vector<TreeSwitch> switches;   // as a depth-first walk meets them; the root is 0
  std::vector<TreeMachine> machines;  // [host]

  /// Links from one machine to another, in order.
  std::vector<LinkId> path(Rank source, Rank target) const;
  /// Switches on it; 0 from a machine to itself.
  int path_length(Rank source, Rank target) const;
};

/// Of the cables (a link and one back). Hosts stay leaves if the switches can be joined without them; otherwise hosts
/// forward. A host that forwards, or hangs on one that does, is a switch of its own. Switches without machines behind
/// them are left out. `seed` chooses the root and, of random trees, the cables. Throws Error when cables do not join
/// all hosts.
SpanningTree spanning_tree(const Topology& topology, TreeSearch search, std::uint64_t seed = 1);

/// An algorithm: [place] the rank that stands there on the ring.
struct RingMethod {
  std::string_view name;
  std::string_view about;
  std::vector<Rank> (*order)(const Topology& topology, const SpanningTree& tree);
};
std::span<const RingMethod> ring_methods();
const RingMethod* ring_method_named(std::string_view name);

/// Algorithm 1: machines as a depth-first walk meets them. Linear time.
std::vector<Rank> lr1_order(const Topology& topology, const SpanningTree& tree);

/// Algorithm 2: no path longer than 2. Throws Error naming the switch that forbids it. Linear time.
std::vector<Rank> lr2_order(const Topology& topology, const SpanningTree& tree);
/// The first switch with fewer machines than switches beside it: there is none if and only if a 2-hop ring exists
/// (Theorem 2).
std::optional<std::int32_t> two_hop_obstacle(const SpanningTree& tree);

/// Algorithm 3: the longest path is as short as on any ring without contention on this tree.
std::vector<Rank> lr3_order(const Topology& topology, const SpanningTree& tree);

struct RingFacts {
  int longest_path = 0;         // switches; 0 with one machine
  int most_uses_of_a_link = 0;  // by all messages of one step
  bool contention_free() const { return most_uses_of_a_link <= 1; }
};
RingFacts facts_of(const SpanningTree& tree, std::span<const Rank> order);

/// allgather, reduce_scatter or allreduce over the ring, with the tree's paths as routes. Throws Error for another
/// collective.
Schedule ring_schedule(std::string name, Collective collective, const Topology& topology, const SpanningTree& tree,
                       std::span<const Rank> order);

}  // namespace colltopo
