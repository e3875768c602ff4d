// Broadcasts from a root, whose reversals are reduces.
#pragma once

#include "colltopo/program.h"

namespace colltopo {

/// Of a bcast's shape. A chunk per rank, by tree and ring.
Program scatter_allgather_bcast(const Shape& shape, Rank rank);
Step scatter_allgather_bcast_steps(Rank ranks);

/// Of any collective with a root, along the k-nomial tree from it: a vector whole, of shards those of a subtree.
Program along_tree(const Shape& shape, Rank rank, int radix);
Step steps_of_tree(Rank ranks, int radix);

}  // namespace colltopo
