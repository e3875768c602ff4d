// Recursive doubling; also half of recursive halving's allreduce.
#pragma once

#include "colltopo/program.h"

namespace colltopo {

/// A power of two of ranks.
Program recursive_doubling_allgather(const Shape& shape, Rank rank);

}  // namespace colltopo
