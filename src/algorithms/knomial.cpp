// K-nomial trees: between binomial, which has the fewest sends at the root, and linear, which has the shortest way to
// everybody. Of radix k the root of P ranks sends (k - 1) log_k P messages, and the last rank has what
// it gets after log_k P of them one after the other: where a step costs more than a message does, few steps win.

#include "algorithms/properties.h"
#include "algorithms/radices.h"
#include "algorithms/table.h"
#include "algorithms/trees.h"

namespace colltopo {

Algorithm knomial_algorithm() {
  return {
      .name = "knomial",
      .about = "k-nomial tree from the root: radix 2 fewest messages (binomial) ... radix P fewest steps (linear)",
      .collectives = {Collective::bcast, Collective::reduce, Collective::gather, Collective::scatter},
      .options = {radix_option_above_two("radix of knomial")},
      .refusal = [](const Shape&, const AlgorithmOptions&) { return std::string(); },
      .chunks = [](const Shape&, const AlgorithmOptions&) { return Chunk{1}; },
      .program = [](const Shape& shape, Rank rank,
                    const AlgorithmOptions& options) { return along_tree(shape, rank, radix_of(shape, options)); },
      .steps = [](const Shape& shape,
                  const AlgorithmOptions& options) { return steps_of_tree(shape.ranks, radix_of(shape, options)); },
      .describe = describe_radix,
      .properties = properties_of_derived,
      .variants = [](const Shape& shape, const AlgorithmOptions& given) { return radix_variants(shape, given, false); },
      .repeats = [](const Shape& shape, const AlgorithmOptions&) { return shape.ranks <= 3; },  // binomial
  };
}

}  // namespace colltopo
