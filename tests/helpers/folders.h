// Folders of schedules, for tests of what is found in them.
#pragma once

#include <fstream>
#include <string>

#include "colltopo/algorithms.h"
#include "colltopo/text.h"
#include "colltopo/topology.h"
#include "colltopo/verify.h"
#include "empty_folder.h"

namespace colltopo {

/// A pairwise exchange or a binomial tree (any proved schedule would do) that says it was made for the ranks of `spec`.
inline void file_schedule(const std::string& path, const std::string& spec,
                          Collective collective = Collective::alltoall, Rank root = 0) {
  const Topology topology = topology_of(spec);
  const char* const algorithm = collective == Collective::alltoall ? "pairwise" : "binomial";
  Schedule schedule = generate(*algorithm_named(algorithm), {collective, topology.hosts(), 1, root}, {});
  schedule.topology = fingerprint(topology);
  schedule.proof = proof_of(verify(schedule));
  std::ofstream out(path);
  write_schedule(out, schedule);
}

}  // namespace colltopo
