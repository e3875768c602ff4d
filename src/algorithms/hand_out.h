// Scatter, and gather as its reversal, along trees; used by the rows that serve other collectives too.
#pragma once

#include "colltopo/algorithms.h"

namespace colltopo {

Program binomial_hand_out(const Shape& shape, Rank rank);
Program linear_hand_out(const Shape& shape, Rank rank);

}  // namespace colltopo
