// Recursive halving: reduce-scatter in log2(ranks) steps with the least data, and with recursive doubling after it
// Rabenseifner's allreduce (recursive doubling B of De Sensi et al., 2.1).
//
// On a power of two it is the reversed recursive doubling allgather. On any other number of ranks it is the reversed
// Bruck allgather of radix 2: as many steps, rounded up, the same (ranks-1)/ranks of the vector, and no folding of
// ranks, so nothing is sent twice and nobody is idle. There the partners are 2^k ranks apart on a circle instead of
// differing in one bit.

#include "algorithms/bruck_allgather.h"
#include "algorithms/from_allgather.h"
#include "algorithms/properties.h"
#include "algorithms/recursive_doubling.h"
#include "algorithms/refusal.h"
#include "algorithms/table.h"

namespace colltopo {

Algorithm recursive_halving_algorithm() {
  return {
      .name = "recursive-halving",
      .about = "reduce-scatter in log2(ranks) steps; with recursive doubling after it, Rabenseifner's allreduce",
      .collectives = {Collective::reduce_scatter, Collective::allreduce},
      .refusal = [](const Shape&, const AlgorithmOptions&) { return std::string(); },
      .chunks = [](const Shape&, const AlgorithmOptions&) { return Chunk{1}; },
      .program =
          [](const Shape& shape, Rank rank, const AlgorithmOptions&) {
            const Shape gather = allgather_shape(shape);
            return from_allgather(shape.collective,
                                  power_of_two(shape.ranks) ? recursive_doubling_allgather(gather, rank)
                                                            : bruck_allgather(gather, rank, 2),
                                  bruck_allgather_steps(shape.ranks, 2));
          },
      .steps =
          [](const Shape& shape, const AlgorithmOptions&) {
            return steps_from_allgather(shape.collective, bruck_allgather_steps(shape.ranks, 2));
          },
      .describe = [](const Shape& shape,
                     const AlgorithmOptions&) { return std::string(power_of_two(shape.ranks) ? "" : "circulant"); },
      .properties = properties_of_derived,
  };
}

}  // namespace colltopo
