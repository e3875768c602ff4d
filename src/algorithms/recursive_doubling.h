// Recursive doubling; also half of recursive halving's allreduce.
#pragma once

#include "colltopo/program.h"

namespace colltopo {

/// A power of two of ranks.
Program recursive_doubling_allgather(const Shape& shape, Rank rank);

/// Any number of ranks; whole vectors, in the order of ranks.
Program recursive_multiplying_allreduce(const Shape& shape, Rank rank, int radix);
Step recursive_multiplying_allreduce_steps(Rank ranks, int radix);

}  // namespace colltopo
