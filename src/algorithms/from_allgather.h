// The collectives that an allgather gives: itself, and by derive.h reduce_scatter and allreduce.
#pragma once

#include "colltopo/derive.h"

namespace colltopo {

/// The allgather whose reversal the shape's collective is made of.
inline Shape allgather_shape(const Shape& shape) { return {Collective::allgather, shape.ranks, shape.chunks, 0}; }

/// `steps`: of the allgather over all ranks.
inline Program from_allgather(Collective collective, Program allgather, Step steps) {
  if (collective == Collective::reduce_scatter) return reduce_scatter_from(allgather, steps);
  if (collective == Collective::allreduce) return allreduce_from(allgather, steps);
  return allgather;
}

}  // namespace colltopo
