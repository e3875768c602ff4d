// Recursive doubling: partners differ in one bit of the rank; in step s everybody swaps all that it has with the
// partner 2^(s-1) away.
//
// Allgather needs a power of two. Allreduce (L of De Sensi et al., 2.1: fewest steps, the whole vector in each) serves
// any number by folding: of P ranks, the first 2 (P - 2^k) form neighbouring pairs, and the even one acts for both.
// Partial results always cover neighbouring ranks, and the lower half's is the left operand on both sides: every rank
// evaluates the same expression, in rank order, so results are equal bit by bit and non-commutative operators are
// right.

#include "algorithms/recursive_doubling.h"

#include <fmt/format.h>

#include <vector>

#include "algorithms/refusal.h"
#include "algorithms/table.h"

namespace colltopo {

namespace {

// The partial result moves between places: `reduce` writes its right operand, which is what has arrived when the
// partner is above. Where it must be is worked out backwards from the last step, which has to leave it in output.
struct Doubling {
  struct Turn {
    Rank partner;
    Step step;
    bool partner_above;
    bool sends;  // false: the first half of folding, where the other has nothing to get
  };

  ProgramBuilder program;
  Chunk vector;  // chunks
  std::vector<Turn> turns;

  Runs whole(int place) const {  // 0: input, 1: output, 2 and 3: scratch
    if (place == 0) return {{Buffer::input, 0, vector}};
    if (place == 1) return {{Buffer::output, 0, vector}};
    return {{Buffer::scratch, (place - 2) * vector, vector}};
  }

  void run() {
    // held[i]: place of the partial result before turn i, arrived[i]: where turn i receives.
    std::vector<int> held(turns.size() + 1), arrived(turns.size());
    held.back() = 1;
    for (std::size_t i = turns.size(); i-- > 0;) {
      const int after = held[i + 1], other = after == 2 ? 3 : 2;
      held[i] = turns[i].partner_above ? other : after;
      arrived[i] = turns[i].partner_above ? after : other;
    }
    bool result_in_scratch = false;
    if (turns.empty() || !turns.front().partner_above) {
      program.copy(whole(0), whole(held.front()));
    } else {
      held.front() = 0;
      // Not into output in the first turn, which sends input: under MPI_IN_PLACE they are the same memory.
      result_in_scratch = arrived.front() == 1;
      if (result_in_scratch) arrived.front() = 2;
    }
    for (std::size_t i = 0; i < turns.size(); ++i) {
      const Turn& turn = turns[i];
      program.step(turn.step);
      // The first turn sends input, wherever its copy is: nothing then waits for that send.
      if (turn.sends) program.send(whole(i == 0 ? 0 : held[i]), turn.partner);
      program.recv(whole(arrived[i]), turn.partner);
      if (turn.partner_above)
        program.reduce(whole(held[i]), whole(arrived[i]));
      else
        program.reduce(whole(arrived[i]), whole(held[i]));
      if (i == 0 && result_in_scratch) program.copy(whole(2), whole(1));
    }
  }
};

Rank largest_power_of_two_in(Rank ranks) {
  Rank power = 1;
  while (power <= ranks / 2) power *= 2;
  return power;
}

}  // namespace

Program recursive_doubling_allreduce(const Shape& shape, Rank rank) {
  const Rank power = largest_power_of_two_in(shape.ranks), folded = shape.ranks - power;
  const auto rank_of = [&](Rank acting) { return acting < folded ? 2 * acting : acting + folded; };
  const bool in_pair = rank < 2 * folded;
  const Step fold = folded > 0 ? 1 : 0;
  Doubling doubling{ProgramBuilder(shape, rank), shape.ranks * shape.chunks, {}};
  Step last = fold;
  for (Rank bit = 1; bit < power; bit *= 2) ++last;

  if (in_pair && rank % 2 == 1) {
    doubling.program.step(1).send(doubling.whole(0), rank - 1);
    doubling.program.step(last + 1).recv(doubling.whole(1), rank - 1);
    return std::move(doubling.program).build();
  }
  if (in_pair) doubling.turns.push_back({rank + 1, 1, true, false});
  const Rank acting = in_pair ? rank / 2 : rank - folded;
  Step step = fold;
  for (Rank bit = 1; bit < power; bit *= 2) {
    doubling.turns.push_back({rank_of(acting ^ bit), ++step, (acting & bit) == 0, true});
  }
  doubling.run();
  if (in_pair) doubling.program.step(last + 1).send(doubling.whole(1), rank + 1);
  return std::move(doubling.program).build();
}

Step recursive_doubling_allreduce_steps(Rank ranks) {
  const Rank power = largest_power_of_two_in(ranks);
  Step steps = ranks > power ? 2 : 0;
  for (Rank bit = 1; bit < power; bit *= 2) ++steps;
  return steps;
}

Program recursive_doubling_allgather(const Shape& shape, Rank rank) {
  ProgramBuilder program(shape, rank);
  const auto blocks = [&](Rank first, Rank count) {
    return Runs{{Buffer::output, first * shape.chunks, count * shape.chunks}};
  };
  program.copy({{Buffer::input, 0, shape.chunks}}, blocks(rank, 1));
  Step step = 0;
  for (Rank held = 1; held < shape.ranks; held *= 2) {
    const Rank first = rank & ~(held - 1);  // of the aligned blocks held so far
    program.step(++step);
    program.send(blocks(first, held), rank ^ held);
    program.recv(blocks(first ^ held, held), rank ^ held);
  }
  return std::move(program).build();
}

Algorithm recursive_doubling_algorithm() {
  return {
      .name = "recursive-doubling",
      .about = "fewest steps: allgather of a power of two of ranks; allreduce of any, whole vectors, in rank order",
      .collectives = {Collective::allgather, Collective::allreduce},
      .refusal =
          [](const Shape& shape, const AlgorithmOptions&) {
            if (shape.collective != Collective::allgather || power_of_two(shape.ranks)) return std::string();
            return fmt::format(
                "allgather on {} ranks: recursive-doubling needs a power of two (bruck serves any number)",
                shape.ranks);
          },
      .chunks = [](const Shape&, const AlgorithmOptions&) { return Chunk{1}; },
      .program =
          [](const Shape& shape, Rank rank, const AlgorithmOptions&) {
            return shape.collective == Collective::allgather ? recursive_doubling_allgather(shape, rank)
                                                             : recursive_doubling_allreduce(shape, rank);
          },
      .steps = [](const Shape& shape,
                  const AlgorithmOptions&) { return recursive_doubling_allreduce_steps(shape.ranks); },
      .describe = [](const Shape&, const AlgorithmOptions&) { return std::string(); },
      .properties =
          [](const Shape& shape, const AlgorithmOptions&) {
            const bool allreduce = shape.collective == Collective::allreduce;
            return Properties{.in_place = true, .keeps_rank_order = allreduce, .same_on_all_ranks = allreduce};
          },
  };
}

}  // namespace colltopo
