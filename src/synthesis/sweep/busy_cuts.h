// Bounds by cuts that a flow shows: where it cannot be better, its busiest links separate the network.
#pragma once

#include <span>
#include <vector>

#include "synthesis/sweep/flow_instance.h"

namespace colltopo::synthesis {

/// [class] lengths that prove more than `time_lower` for an instance without symmetry, all on a cut (or several) of the
/// links that are busiest under `loads` ([class]), of which the busiest needs `time`. Empty: no such cut proves more.
std::vector<double> best_cut(const FlowInstance& instance, std::span<const double> loads, double time_lower,
                             double time);

}  // namespace colltopo::synthesis
