// Bounds by cuts that a flow shows: where it cannot be better, its busiest links separate the network.
#pragma once

#include <span>
#include <vector>

#include "synthesis/sweep/flow_instance.h"

namespace colltopo::synthesis {

struct Cut {
  std::vector<double> lengths;  // [class] 0 but on the cut
  double time_lower = 0;        // that they prove
};

/// What proves more than `time_lower` for an instance without symmetry or traffic: a cut (or several) of the links that
/// are busiest under `loads` ([class]), of which the busiest needs `time`. No lengths: no such cut proves more.
Cut best_cut(const FlowInstance& instance, std::span<const double> loads, double time_lower, double time);

}  // namespace colltopo::synthesis
