// What a program costs, apart from bytes and the machine: per step, messages and chunks by locality class.
#pragma once

#include <functional>
#include <vector>

#include "colltopo/choice.h"

namespace colltopo {

/// A placement with what is found out about it once.
struct Terrain {
  explicit Terrain(Placement placed);

  Placement placement;
  std::shared_ptr<const Groups> nodes;
};

/// One step, as the busiest sampled rank and as the whole node see it. Chunks are counted in shards of the call.
struct StepWork {
  double messages_node = 0, messages_network = 0;  // by the busiest sampled rank, each way
  double received = 0, shards_received = 0;        // messages, and what is in them
  double shards_node = 0;                          // within the node by the busiest sampled rank, each way
  double shards_network = 0;                       // over the busiest link, of those of a node where not all are known
  double shards_packed = 0;                        // gathered or scattered because they are not contiguous
  double shards_copied = 0, shards_reduced = 0;    // busiest sampled rank
  double hops = 0;                                 // of the longest message over the network, near nodes' being 1

  friend bool operator==(const StepWork&, const StepWork&) = default;
};

/// Steps that are alike stand together.
struct Profile {
  struct Steps {
    StepWork each;
    double times = 1;
  };
  std::vector<Steps> steps;
  /// Steps of the schedule in which no sampled rank has a message: others have, and price them like the mean of those
  /// above. In a chain of ranks that is nearly all of them.
  double elsewhere = 0;
};

struct Programs {
  std::function<Program(Rank)> of;
  bool take_all_ranks;  // as of Algorithm
};

/// Reads the programs of all ranks where the links between nodes are known, and of up to 45; otherwise of a node's, all
/// of them or some, for a rooted collective also of a node far from the root. `steps`: of the whole schedule.
Profile profile_of(const Shape& shape, const Terrain& terrain, Step steps, const Programs& programs);

/// Roots that stand for all: their prices' maximum is a rooted collective's price. {0} for others.
std::vector<Rank> sampled_roots(Collective collective, const Terrain& terrain);

/// Seconds for shards of `bytes` (of the vector for one-vector collectives: `bytes` is then the whole vector's share
/// per shard, vector bytes / ranks for allreduce, the vector for bcast and reduce).
double seconds_of(const Profile& profile, const Machine& machine, double bytes);

/// Of those, at most what less they can be where the same messages are cut into parts that follow each other: within
/// nodes and between them they then move at once.
double saved_by_cutting(const Profile& profile, const Machine& machine, double bytes);

/// Bytes of what Profile counts as one shard, for a request's bytes.
double shard_bytes(const Shape& shape, std::size_t bytes);

}  // namespace colltopo
