// Logical-ring allgather (Faraj, Patarasuk, Yuan 2005).
//
// Ranks are placed on a ring by `order`; in each of ranks-1 steps everybody forwards the block it received last to its
// successor. If `order` follows a depth-first walk of a spanning tree, no link carries two messages in a step (their
// Theorem 1). Pipelining is not written here: running the plan over segments provides it. Backwards it is the ring
// reduce-scatter, and both together are the bandwidth-optimal ring allreduce.

#include "algorithms/ring.h"

#include <algorithm>
#include <cassert>

#include "algorithms/from_allgather.h"
#include "algorithms/properties.h"
#include "algorithms/table.h"

namespace colltopo {

Program ring_allgather(const Shape& shape, Rank rank, std::span<const Rank> order) {
  assert(order.empty() || order.size() == static_cast<std::size_t>(shape.ranks));
  const Rank ranks = shape.ranks;
  const Rank place =
      order.empty() ? rank : static_cast<Rank>(std::find(order.begin(), order.end(), rank) - order.begin());
  const auto at = [&](Rank p) {
    const Rank wrapped = (p + ranks) % ranks;
    return order.empty() ? wrapped : order[static_cast<std::size_t>(wrapped)];
  };
  const auto block = [&](Rank behind) {  // the block of the rank `behind` places back on the ring
    return Run{Buffer::output, at(place - behind) * shape.chunks, shape.chunks};
  };

  ProgramBuilder program(shape, rank);
  program.copy({{Buffer::input, 0, shape.chunks}}, {block(0)});
  for (Step step = 1; step < ranks; ++step) {
    program.step(step);
    program.send({block(step - 1)}, at(place + 1));
    program.recv({block(step)}, at(place - 1));
  }
  return std::move(program).build();
}

Algorithm ring_algorithm() {
  return {
      .name = "ring",
      .about = "logical ring by rank: ranks-1 steps, least data (Faraj, Patarasuk, Yuan)",
      .collectives = {Collective::allgather, Collective::reduce_scatter, Collective::allreduce},
      .refusal = [](const Shape&, const AlgorithmOptions&) { return std::string(); },
      .chunks = [](const Shape&, const AlgorithmOptions&) { return Chunk{1}; },
      .program =
          [](const Shape& shape, Rank rank, const AlgorithmOptions&) {
            return from_allgather(shape.collective, ring_allgather(allgather_shape(shape), rank), shape.ranks - 1);
          },
      .steps = [](const Shape& shape,
                  const AlgorithmOptions&) { return steps_from_allgather(shape.collective, shape.ranks - 1); },
      .describe = [](const Shape&, const AlgorithmOptions&) { return std::string(); },
      .properties = properties_of_derived,
  };
}

}  // namespace colltopo
