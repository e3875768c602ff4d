// Whether trees exist: every host must be able to get all of them.
//
// With a source that feeds every host the trees rooted there, trees that span all hosts exist exactly when the flow
// from the source to each host is the number of all trees (Theorems 1, 5 and 10; Edmonds 1973).
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "forest/max_flow.h"

namespace colltopo {

/// Switches may lie between hosts.
struct SpanningQuestion {
  NodeId hosts = 0;
  NodeId nodes = 0;
  std::span<const CapacityEdge> edges;
  std::span<const Capacity> roots;  // [host] trees rooted there
};

/// `threads`: 0 means all.
bool trees_exist(const SpanningQuestion& question, int threads);

/// Nodes inside of sets that too little leaves ([cut][node]); none when trees exist. At most one per block of sinks;
/// the same for any number of threads.
std::vector<std::vector<bool>> violated_cuts(const SpanningQuestion& question, int threads);

/// Where there are no switches: hosts inside of the set that lacks most; none when trees exist. All sinks in one run
/// (least_cut.h), which takes a half to a tenth of the time of their flows.
std::optional<std::vector<bool>> worst_violated_cut(const SpanningQuestion& question);

}  // namespace colltopo
