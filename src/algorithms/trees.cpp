// K-nomial trees from any root, and broadcast as scatter and allgather (van de Geijn).
//
// Ranks are counted from the root on. Scatter-allgather cuts the vector into one chunk per rank: the tree hands every
// subtree its own stretch of chunks, then a ring passes the chunks on to those that lack them; nobody gets a chunk
// twice, so that reversed both are reduces to the root.

#include "algorithms/trees.h"

#include "algorithms/hand_out.h"
#include "algorithms/knomial_tree.h"
#include "algorithms/properties.h"
#include "algorithms/table.h"
#include "colltopo/derive.h"

namespace colltopo {

namespace {

constexpr int k_binomial = 2;  // radix

/// Ranks counted from the root on.
class Tree : public KnomialTree {
 public:
  Tree(const Shape& shape, Rank rank, int radix)
      : KnomialTree(shape.ranks, (rank - shape.root + shape.ranks) % shape.ranks, radix),
        ranks_(shape.ranks),
        root_(shape.root) {}

  Rank rank_of(Rank place) const { return (root_ + place) % ranks_; }

 private:
  Rank ranks_, root_;
};

Shape bcast_shape(const Shape& shape) { return {Collective::bcast, shape.ranks, shape.chunks, shape.root}; }

Buffer held(const Tree& tree) { return tree.place() == 0 ? Buffer::input : Buffer::output; }

Program knomial_bcast(const Shape& shape, Rank rank, int radix) {
  const Tree tree(shape, rank, radix);
  ProgramBuilder program(shape, rank);
  tree.walk(
      [&](Step step, Rank parent) {
        program.step(step).recv({{Buffer::output, 0, shape.chunks}}, tree.rank_of(parent));
      },
      [&](Step step, Rank child) {
        program.step(step).send({{held(tree), 0, shape.chunks}}, tree.rank_of(child));
      });
  return std::move(program).build();
}

}  // namespace

Program scatter_allgather_bcast(const Shape& shape, Rank rank) {
  const Tree tree(shape, rank, k_binomial);
  const Rank ranks = shape.ranks, v = tree.place();
  ProgramBuilder program(shape, rank);
  tree.walk(
      [&](Step step, Rank parent) {
        program.step(step).recv({{Buffer::output, v, tree.subtree(v)}}, tree.rank_of(parent));
      },
      [&](Step step, Rank child) {
        program.step(step).send({{held(tree), child, tree.subtree(child)}}, tree.rank_of(child));
      });
  // In step s of the ring, number v gets chunk v - s, unless it came with v's subtree: those are the last ones.
  const auto gets = [&](Rank number, Step s) { return s <= ranks - tree.subtree(number); };
  const Rank next = (v + 1) % ranks;
  for (Step s = 1; s < ranks; ++s) {
    program.step(tree.steps() + s);
    if (gets(next, s)) program.send({{held(tree), (v + 1 - s + ranks) % ranks, 1}}, tree.rank_of(next));
    if (gets(v, s)) program.recv({{Buffer::output, (v - s + ranks) % ranks, 1}}, tree.rank_of(v - 1));
  }
  return std::move(program).build();
}

Step steps_of_tree(Rank ranks, int radix) { return KnomialTree(ranks, 0, radix).steps(); }
Step scatter_allgather_bcast_steps(Rank ranks) { return steps_of_tree(ranks, k_binomial) + ranks - 1; }

namespace {

Step steps_both(const Shape& shape) { return scatter_allgather_bcast_steps(shape.ranks); }

Program bcast_or_reduce(const Shape& shape, const Program& bcast, Step steps) {
  return reduces(shape.collective) ? reduce_from(bcast, steps) : bcast;
}

}  // namespace

Program along_tree(const Shape& shape, Rank rank, int radix) {
  if (!row(shape.collective).made_of_trees()) return knomial_hand_out(shape, rank, radix);
  return bcast_or_reduce(shape, knomial_bcast(bcast_shape(shape), rank, radix), steps_of_tree(shape.ranks, radix));
}

Algorithm binomial_algorithm() {
  return {
      .name = "binomial",
      .about = "binomial tree from the root in ceil(log2 ranks) steps: a vector whole, of shards those of a subtree",
      .collectives = {Collective::bcast, Collective::reduce, Collective::gather, Collective::scatter},
      .refusal = [](const Shape&, const AlgorithmOptions&) { return std::string(); },
      .chunks = [](const Shape&, const AlgorithmOptions&) { return Chunk{1}; },
      .program = [](const Shape& shape, Rank rank,
                    const AlgorithmOptions&) { return along_tree(shape, rank, k_binomial); },
      .steps = [](const Shape& shape, const AlgorithmOptions&) { return steps_of_tree(shape.ranks, k_binomial); },
      .describe = [](const Shape&, const AlgorithmOptions&) { return std::string(); },
      .properties = properties_of_derived,
  };
}

Algorithm scatter_allgather_algorithm() {
  return {
      .name = "scatter-allgather",
      .about = "broadcast as binomial scatter and ring allgather, reduce as its reversal: for large vectors",
      .collectives = {Collective::bcast, Collective::reduce},
      .refusal = [](const Shape&, const AlgorithmOptions&) { return std::string(); },
      .chunks = [](const Shape& shape, const AlgorithmOptions&) { return shape.ranks; },
      .program =
          [](const Shape& shape, Rank rank, const AlgorithmOptions&) {
            return bcast_or_reduce(shape, scatter_allgather_bcast(bcast_shape(shape), rank), steps_both(shape));
          },
      .steps = [](const Shape& shape, const AlgorithmOptions&) { return steps_both(shape); },
      .describe = [](const Shape&, const AlgorithmOptions&) { return std::string(); },
      .properties = properties_of_derived,
  };
}

}  // namespace colltopo
