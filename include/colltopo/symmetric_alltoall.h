// Making an all-to-all that repeats under a group of symmetries.
#pragma once

#include "colltopo/symmetric.h"
#include "colltopo/synthesis.h"

namespace colltopo {

struct SymmetricSynthesis {
  SymmetricSchedule schedule;  // without proof
  FlowBound bound;             // time: of the schedule; time_lower and lengths: what no all-to-all beats
  double flow_time = 0;        // of the shares before they were cut into chunks
};

/// The optimum of the all-to-all (Basu et al., 3.1) by flows from one host of each orbit alone, averaged over the
/// group: since every element is used exactly once, all links of an orbit carry the same, and one flow per orbit serves
/// the whole network at the whole network's optimum. Cut into at most `most_chunks` chunks per shard once, for all
/// hosts. Routes are put into layers that repeat too where that is possible without a cycle, otherwise all into layer
/// 0. Time as a flow from one host per orbit, plus O(links * generators).
SymmetricSynthesis symmetric_alltoall(const Topology& topology, const Symmetry& symmetry,
                                      const SynthesisOptions& options, Chunk most_chunks);

}  // namespace colltopo
