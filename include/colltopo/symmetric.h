// An all-to-all that repeats under a group of symmetries: what one host of each orbit sends and on which paths is all
// that it has; everybody's program and routes are that, moved (docs/decisions/0015).
//
// Rank r runs on host r. If element h takes the representative of orbit i to rank r, then r sends to h(t) what that
// representative sends to t, on the paths moved by h. What it receives follows: from g m^-1 (x) comes what the
// representative x sends to m(y), where r is g(y). So a rank needs no more than the generators and the shares.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "colltopo/schedule.h"
#include "colltopo/symmetry.h"
#include "colltopo/topology.h"

namespace colltopo {

/// How a shard is spread over the lanes to a target; the same for `count` targets from `first` on.
struct Split {
  Rank first = 0;
  Rank count = 1;
  std::vector<Chunk> lanes;  // [lane] chunks, in the order of the shard

  friend bool operator==(const Split&, const Split&) = default;
};

/// The paths from one host as a tree: each is another one and a link more. Node 0 is the host itself.
struct PathTree {
  struct Node {
    std::int32_t from = 0;   // the node that it goes on from, smaller than its own number
    LinkId link = 0;         // by which
    Chunk chunks = 0;        // that end here; 0: a path that others go on from
    std::int32_t layer = 0;  // of the path that ends here

    friend bool operator==(const Node&, const Node&) = default;
  };
  std::vector<Node> nodes{{}};

  friend bool operator==(const PathTree&, const PathTree&) = default;
};

struct SymmetricSchedule {
  std::string name;
  Shape shape;  // alltoall
  Symmetry symmetry;
  std::vector<std::vector<Split>> splits;  // [orbit] of all targets but the representative, in increasing order
  std::vector<PathTree> paths;             // [orbit]; the k-th node that ends at a target is its lane k
  std::string topology;                    // as Schedule's
  std::string topology_name;
  std::string bound;
  std::optional<Proof> proof = {};

  friend bool operator==(const SymmetricSchedule&, const SymmetricSchedule&) = default;
};

/// What is wrong with the splits of an orbit, "" if nothing: every target but the representative once, in order, with
/// chunks on every lane that sum to the shard's.
std::string split_fault(const Shape& shape, Rank representative, std::span<const Split> splits);

/// One rank's program: own shard copied, then for every element m a message to each host that m leads to and one from
/// each that leads to here by m. The splits must have no fault. Time and memory O(ranks * generators).
Program symmetric_program(const Shape& shape, const Symmetry& symmetry, std::span<const std::vector<Split>> splits,
                          Rank rank);

/// The splits that a tree's paths amount to. Throws Error when a path ends at a switch or at the host itself, or when a
/// host is not reached.
std::vector<Split> splits_of(const Topology& topology, Rank representative, const PathTree& tree);

/// One rank's routes, sorted by target and lane. Time O(links + the paths' links). Throws Error when its element is no
/// automorphism of the topology.
std::vector<Route> routes_from(const SymmetricSchedule& schedule, const Topology& topology, Rank rank);

/// Every rank's program and routes: memory grows with the square of the ranks. Throws Error when a generator is no
/// automorphism of the topology.
Schedule expanded(const SymmetricSchedule& schedule, const Topology& topology);

}  // namespace colltopo
