// Logical-ring allgather (Faraj, Patarasuk, Yuan 2005), and what derives from it.
#pragma once

#include <span>

#include "colltopo/program.h"

namespace colltopo {

/// Ranks stand on the ring in the order given, a permutation; empty: by number. ranks - 1 steps.
Program ring_allgather(const Shape& shape, Rank rank, std::span<const Rank> order = {});

}  // namespace colltopo
