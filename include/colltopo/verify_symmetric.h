// Proving a schedule that repeats under a group of symmetries: one orbit for all.
#pragma once

#include <vector>

#include "colltopo/cost.h"
#include "colltopo/symmetric.h"

namespace colltopo {

/// What the proof of a symmetric schedule finds on a network.
struct SymmetricVerdict {
  std::vector<Violation> violations;  // at most 20
  double busiest_link_load = 0;       // times the bytes of a call (one shard)
  LinkId busiest_link = -1;
  double busiest_link_s_per_byte = 0;
  double mean_link_load = 0;
  double longest_latency_s = 0;
  std::size_t routes = 0, layers = 0;
  std::size_t most_messages_on_a_link = 0;
  bool neighbours_only = true;         // as Cost's
  std::size_t messages_of_a_rank = 0;  // the most that one sends
};

/// That the generators make a group which acts freely on the ranks, and that every orbit's representative sends each
/// shard once: then so does everybody, and everybody's receives meet what is sent. Nothing waits for anything in such
/// programs, so they are free of deadlock in every order and step by step.
std::vector<Violation> verify_symmetric(const SymmetricSchedule& schedule);
/// The proof that goes with one that has no violation.
Proof proof_of_symmetric();

/// Also that it fits a topology: the generators are automorphisms, paths follow links and end where the chunks are
/// sent, and (where the fabric is lossless) links of a layer do not wait for each other in a cycle. Proved on orbits:
/// dependencies repeat under the group, so there is a cycle of links exactly where there is one of orbits of links.
SymmetricVerdict verify_symmetric_on(const SymmetricSchedule& schedule, const Topology& topology,
                                     Fabric fabric = Fabric::lossless);

/// As cost_of() of the schedule written out whole. Throws Error naming the first violation on the topology.
Cost cost_of(const SymmetricSchedule& schedule, const Topology& topology);

/// [link] load in shards.
std::vector<double> link_loads(const SymmetricSchedule& schedule, const Topology& topology);

}  // namespace colltopo
