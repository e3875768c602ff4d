// Recursive doubling; also half of recursive halving's allreduce.
#pragma once

#include "colltopo/program.h"

namespace colltopo {

/// A power of two of ranks.
Program recursive_doubling_allgather(const Shape& shape, Rank rank);

/// Any number of ranks; whole vectors, in the order of ranks.
Program recursive_multiplying_allreduce(const Shape& shape, Rank rank, int radix);
/// The largest radix whose vectors find room in scratch beside `other_banks` of them: a chunk of each shard in each.
int largest_multiplying_radix(const Shape& shape, Chunk other_banks = 0);
Step recursive_multiplying_allreduce_steps(Rank ranks, int radix);

}  // namespace colltopo
