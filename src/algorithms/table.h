// The rows of the algorithm table; each is defined in the file that implements it.
#pragma once

#include "colltopo/algorithms.h"

namespace colltopo {

Algorithm tra_algorithm();
Algorithm tra2_algorithm();
Algorithm linear_algorithm();
Algorithm pairwise_algorithm();
Algorithm bruck_algorithm();
Algorithm ring_algorithm();
Algorithm recursive_doubling_algorithm();
Algorithm recursive_halving_algorithm();
Algorithm binomial_algorithm();
Algorithm scatter_allgather_algorithm();
Algorithm two_level_algorithm();
Algorithm swing_algorithm();
Algorithm swing_latency_algorithm();
Algorithm mirrored_algorithm();
Algorithm bucket_algorithm();
Algorithm hamiltonian_algorithm();

}  // namespace colltopo
