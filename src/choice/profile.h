// What a program costs, apart from bytes and the machine: per step, messages and chunks by locality class.
#pragma once

#include <functional>
#include <vector>

#include "colltopo/choice.h"

namespace colltopo {

/// One step, as the busiest sampled rank and as the whole node see it. Chunks are counted in shards of the call.
struct StepWork {
  double messages_node = 0, messages_network = 0;  // of the busiest sampled rank
  double shards_node = 0;                          // moved within the node by the busiest sampled rank
  double shards_network = 0;                       // over the busiest link of the node, for all of its ranks
  double shards_packed = 0;                        // gathered or scattered because they are not contiguous
  double shards_copied = 0, shards_reduced = 0;    // busiest sampled rank
  int hops = 1;                                    // of the longest message over the network
};

struct Profile {
  std::vector<StepWork> steps;
};

/// Reads the programs of up to four ranks of the first rank's node.
Profile profile_of(const Shape& shape, const Placement& placement, const std::function<Program(Rank)>& program_of);

/// Seconds for shards of `bytes` (of the vector for one-vector collectives: `bytes` is then the whole vector's share
/// per shard, vector bytes / ranks for allreduce, the vector for bcast and reduce).
double seconds_of(const Profile& profile, const Machine& machine, double bytes);

/// Bytes of what Profile counts as one shard, for a request's bytes.
double shard_bytes(const Shape& shape, std::size_t bytes);

}  // namespace colltopo
