// What algorithms take on the ranks of this job, by the component itself.
#pragma once

#include <string>
#include <vector>

#include "comm/constants.h"
#include "probe/candidates.h"
#include "probe/counters.h"

namespace colltopo::probe {

/// Collective, the contenders equal on all ranks: each is made to serve calls of a communicator of its own, at its
/// sizes, with the constants of this file. What the component has not served is left out, and so is what `seconds` are
/// not enough for, the last of the list before the first. `counters`: of rank 0, as a call is served on all ranks or on
/// none; null on others.
std::vector<ConstantsRecord::Times> measure(const std::vector<Contender>& contenders, const std::string& constants,
                                            double seconds, const Counters* counters);

}  // namespace colltopo::probe
