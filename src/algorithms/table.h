// The rows of the algorithm table; each is defined in the file that implements it.
#pragma once

#include "colltopo/algorithms.h"

namespace colltopo {

Algorithm tra_algorithm();
Algorithm tra2_algorithm();

}  // namespace colltopo
