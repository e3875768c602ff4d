// Scatter, and gather as its reversal, along trees.
#pragma once

#include "colltopo/algorithms.h"

namespace colltopo {

Program knomial_hand_out(const Shape& shape, Rank rank, int radix);

}  // namespace colltopo
