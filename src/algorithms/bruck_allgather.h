// Bruck's allgather with any radix and on any number of ranks; recursive halving on other than powers of two is its
// reversal.
#pragma once

#include "colltopo/program.h"

namespace colltopo {

Program bruck_allgather(const Shape& shape, Rank rank, int radix);

/// How many steps it takes, ceil(log ranks) to the base `radix`.
Step bruck_allgather_steps(Rank ranks, int radix);

}  // namespace colltopo
