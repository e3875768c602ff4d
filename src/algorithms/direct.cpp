// Without forwarding: linear posts everything at once, pairwise makes one exchange a step.
//
// Both start with the neighbour and go round, so that no rank is everybody's first target. Linear lists its sends
// first, for a program must make sense one op at a time with sends buffered; the executor posts receives before sends.
// Pairwise exchanges with rank XOR step on a power of two, which makes every message meet its answer; else it sends
// `step` places ahead and receives from `step` places behind. No data makes a step wait for the one before it, so the
// row asks for plans that run it step by step: that it does not flood the network is all it is for.

#include <algorithm>

#include "algorithms/from_allgather.h"
#include "algorithms/properties.h"
#include "algorithms/refusal.h"
#include "algorithms/table.h"
#include "algorithms/trees.h"
#include "base/index.h"

namespace colltopo {

namespace {

Run block(Buffer buffer, const Shape& shape, Rank rank) { return {buffer, rank * shape.chunks, shape.chunks}; }

Program linear(const Shape& shape, Rank rank) {
  ProgramBuilder program(shape, rank);
  const Rank ranks = shape.ranks;
  program.copy({block(Buffer::input, shape, rank)}, {block(Buffer::output, shape, rank)});
  program.reserve(2 * index(ranks), 2 * index(ranks)).step(1);
  for (Rank i = 1; i < ranks; ++i) {
    const Rank to = (rank + i) % ranks;
    program.send({block(Buffer::input, shape, to)}, to);
  }
  for (Rank i = 1; i < ranks; ++i) {
    const Rank from = (rank - i + ranks) % ranks;
    program.recv({block(Buffer::output, shape, from)}, from);
  }
  return std::move(program).build();
}

Program linear_allgather(const Shape& shape, Rank rank) {
  ProgramBuilder program(shape, rank);
  const Rank ranks = shape.ranks;
  program.copy({{Buffer::input, 0, shape.chunks}}, {block(Buffer::output, shape, rank)});
  program.reserve(2 * index(ranks), 2 * index(ranks)).step(1);
  for (Rank i = 1; i < ranks; ++i) program.send({block(Buffer::output, shape, rank)}, (rank + i) % ranks);
  for (Rank i = 1; i < ranks; ++i) {
    const Rank from = (rank - i + ranks) % ranks;
    program.recv({block(Buffer::output, shape, from)}, from);
  }
  return std::move(program).build();
}

Step one_step(Rank ranks) { return ranks > 1 ? 1 : 0; }

Program pairwise(const Shape& shape, Rank rank, const AlgorithmOptions&) {
  ProgramBuilder program(shape, rank);
  const Rank ranks = shape.ranks;
  program.copy({block(Buffer::input, shape, rank)}, {block(Buffer::output, shape, rank)});
  program.reserve(2 * index(ranks), 2 * index(ranks));
  for (Rank i = 1; i < ranks; ++i) {
    const Rank to = power_of_two(ranks) ? rank ^ i : (rank + i) % ranks;
    const Rank from = power_of_two(ranks) ? rank ^ i : (rank - i + ranks) % ranks;
    program.step(i);
    program.send({block(Buffer::input, shape, to)}, to);
    program.recv({block(Buffer::output, shape, from)}, from);
  }
  return std::move(program).build();
}

Algorithm all_to_all(std::string_view name, std::string_view about,
                     Program (*program)(const Shape&, Rank, const AlgorithmOptions&), Step (*steps)(Rank ranks)) {
  return {
      .name = name,
      .about = about,
      .collectives = {Collective::alltoall},
      .refusal = [](const Shape&, const AlgorithmOptions&) { return std::string(); },
      .chunks = [](const Shape&, const AlgorithmOptions&) { return Chunk{1}; },
      .program = program,
      .steps = [steps](const Shape& shape, const AlgorithmOptions&) { return steps(shape.ranks); },
      .describe = [](const Shape&, const AlgorithmOptions&) { return std::string(); },
      .properties = properties_of_alltoall,
      .direct = true,
  };
}

}  // namespace

Algorithm linear_algorithm() {
  Algorithm row = all_to_all(
      "linear", "every block straight to its owner, all at once",
      [](const Shape& shape, Rank rank, const AlgorithmOptions&) {
        if (rooted(shape.collective)) return along_tree(shape, rank, std::max(2, shape.ranks));
        if (shape.collective == Collective::alltoall) return linear(shape, rank);
        return from_allgather(shape.collective, linear_allgather(allgather_shape(shape), rank), one_step(shape.ranks));
      },
      one_step);
  row.collectives = {Collective::alltoall, Collective::allgather, Collective::reduce_scatter, Collective::bcast,
                     Collective::reduce,   Collective::gather,    Collective::scatter};
  row.properties = [](const Shape& shape, const AlgorithmOptions& options) {
    return shape.collective == Collective::alltoall ? properties_of_alltoall(shape, options)
                                                    : properties_of_derived(shape, options);
  };
  return row;
}

Algorithm pairwise_algorithm() {
  Algorithm row = all_to_all("pairwise", "every block straight to its owner, one exchange a step", pairwise,
                             [](Rank ranks) { return ranks - 1; });
  row.paced_by_steps = true;
  return row;
}

}  // namespace colltopo
