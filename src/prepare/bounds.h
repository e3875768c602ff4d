// What no schedule of a collective can beat on a network, in one unit for all: seconds per byte of a call.
#pragma once

#include <string>

#include "colltopo/routing.h"
#include "colltopo/shape.h"
#include "colltopo/topology.h"

namespace colltopo::prepare {

struct CollectiveBound {
  double seconds_per_byte = 0;  // of a shard, or of the vector
  bool optimum = false;         // schedules that reach it exist
  std::string reason;
};

/// Of what trees do: exact where that is known (Zhao et al.). Of an allreduce on a large network, and of gather and
/// scatter, what cuts and sums of links allow. `flow`: of the all-to-all, whose own bound it is.
CollectiveBound bound_of(const Topology& network, const Shape& shape, const FlowBound& flow, int threads);

}  // namespace colltopo::prepare
