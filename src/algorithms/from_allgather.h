// The collectives that an allgather gives: itself, and by derive.h reduce_scatter and allreduce.
#pragma once

#include "colltopo/derive.h"

namespace colltopo {

/// The allgather whose reversal the shape's collective is made of.
inline Shape allgather_shape(const Shape& shape) { return {Collective::allgather, shape.ranks, shape.chunks, 0}; }

/// Steps of what is made of an allgather of `steps` steps.
inline Step steps_from_allgather(Collective collective, Step steps) {
  return row(collective).combines && row(collective).spreads ? 2 * steps : steps;
}

/// `steps`: of the allgather over all ranks.
inline Program from_allgather(Collective collective, const Program& allgather, Step steps) {
  return from_allgathers(collective, 0, &allgather, &allgather, steps);
}

}  // namespace colltopo
