// The other way round: links and their twins, routes turned.
#pragma once

#include <vector>

#include "colltopo/forest.h"

namespace colltopo {

/// [link] one of equal bandwidth the other way, each the twin of its twin; empty when a link has none.
std::vector<LinkId> twins(const Topology& topology);

/// From target to source, over the same links.
void turn_routes(Packing& packing);

}  // namespace colltopo
