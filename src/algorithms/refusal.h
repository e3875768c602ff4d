// What decides whether an algorithm can serve a shape.
#pragma once

#include "colltopo/shape.h"

namespace colltopo {

inline bool power_of_two(Rank ranks) { return (ranks & (ranks - 1)) == 0; }

}  // namespace colltopo
