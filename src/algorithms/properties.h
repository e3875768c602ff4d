// Properties that many rows of the table share.
#pragma once

#include "colltopo/algorithms.h"

namespace colltopo {

/// All-to-all algorithms without a rank for which input and output could be the same memory: blocks land while others
/// of the same place have still to leave.
inline Properties properties_of_alltoall(const Shape&, const AlgorithmOptions&) { return {}; }

/// Allgather or bcast programs that receive every chunk once into its place, and what derive.h makes of them: a result
/// is computed at one rank, in an order that is not that of ranks. A reduce-scatter's result lies where rank 0's shard
/// of the input is, so it needs that input elsewhere.
inline Properties properties_of_derived(const Shape& shape, const AlgorithmOptions&) {
  return {.in_place = shape.collective != Collective::reduce_scatter,
          .keeps_rank_order = false,
          .same_on_all_ranks = reduces(shape.collective)};
}

}  // namespace colltopo
