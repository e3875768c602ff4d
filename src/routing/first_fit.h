// Routes into the first layer that takes them, as LASH does.
#pragma once

#include <cstdint>
#include <vector>

#include "colltopo/layers.h"
#include "routing/dependencies.h"

namespace colltopo {

using RouteId = std::uint32_t;

struct Filled {
  std::vector<std::int32_t> layer_of;             // [route]
  std::vector<std::vector<std::int32_t>> orders;  // [layer] of links, as AcyclicLayer::order(); empty where closed
};

/// Each route, in this order. `orders`: what the first layers begin with.
///
/// A layer works on what the one before refused while that one goes on, so as many threads are of use as there are
/// layers; the result is the same for any number of them.
Filled first_fit(const Dependencies& dependencies, RouteLinks routes, const std::vector<RouteId>& order, int threads,
                 std::vector<std::vector<std::int32_t>> orders = {});

}  // namespace colltopo
