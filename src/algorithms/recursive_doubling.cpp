// Recursive doubling and multiplying: the ranks of a round differ in one digit, in base k, of the rank; all of them
// swap all that they have.
//
// Doubling has base 2. Allgather needs a power of two. Allreduce (L of De Sensi et al., 2.1: fewest steps, the whole
// vector in each) serves any number by folding: a base to a power, times what still fits, are the P' ranks that act; of
// the others each is the odd one of a neighbouring pair, the first 2 (P - P') ranks, whose even one acts for both.
// Partial results always cover neighbouring ranks, and lower ones are left operands with everybody: every rank
// evaluates the same expression, in rank order, so results are equal bit by bit and non-commutative operators are
// right. With a larger base rounds are fewer and their messages more.

#include "algorithms/recursive_doubling.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

#include "algorithms/radices.h"
#include "algorithms/refusal.h"
#include "algorithms/table.h"
#include "base/index.h"
#include "schedule/scratch.h"

namespace colltopo {

namespace {

constexpr int k_doubling = 2;  // radix

// The partial result moves between places: `reduce` writes its right operand, so a turn's result is where the
// contribution of its last rank was. Where it must be is worked out backwards from the last turn, which has to leave it
// in output.
struct Multiplying {
  struct Turn {
    std::vector<Rank> members;  // in their order
    std::size_t own;            // index of this rank
    Step step;
    bool sends = true;  // false: the first half of folding, where the other has nothing to get

    bool is_last() const { return own + 1 == members.size(); }
  };

  ProgramBuilder program;
  Chunk vector;  // chunks
  std::vector<Turn> turns;

  static constexpr int k_input = 0, k_output = 1, k_scratch = 2, k_others = 4;  // places
  /// Vectors in scratch where rounds have up to so many members.
  static constexpr Chunk banks(int members) { return k_others - k_scratch + std::max(0, members - 1); }

  Runs whole(int place) const {
    if (place == k_input) return {{Buffer::input, 0, vector}};
    if (place == k_output) return {{Buffer::output, 0, vector}};
    return {{Buffer::scratch, (place - k_scratch) * vector, vector}};
  }

  static int beside(int place) { return place == k_scratch ? k_scratch + 1 : k_scratch; }

  void run() {
    // held[i]: place of the partial result before turn i.
    std::vector<int> held(turns.size() + 1);
    held.back() = k_output;
    for (std::size_t i = turns.size(); i-- > 0;) held[i] = turns[i].is_last() ? held[i + 1] : beside(held[i + 1]);
    if (turns.empty() || turns.front().own > 0)
      program.copy(whole(k_input), whole(held.front()));
    else
      held.front() = k_input;
    for (std::size_t i = 0; i < turns.size(); ++i) {
      const bool first = i == 0;
      // Nothing arrives in output in the first turn, which sends input: under MPI_IN_PLACE they are the same memory.
      const bool moves = first && held[1] == k_output && !turns[0].is_last();
      const int result = moves ? beside(held[0]) : held[i + 1];
      // The first turn sends input, wherever its copy is: nothing then waits for that send.
      take(turns[i], held[i], result, first ? k_input : held[i]);
      if (moves) program.copy(whole(result), whole(k_output));
    }
  }

  void take(const Turn& turn, int held, int result, int sent) {
    std::vector<int> places(turn.members.size());
    int others = turn.members.size() > 2 ? k_others : beside(result);
    for (std::size_t i = 0; i < places.size(); ++i)
      places[i] = i == turn.own ? held : i + 1 == places.size() ? result : others++;
    program.step(turn.step);
    const auto with_others = [&](const auto& what) {  // from the next one on, so that no rank is everybody's first
      for (std::size_t i = turn.own + 1; i < turn.own + places.size(); ++i) what(i % places.size());
    };
    if (turn.sends) with_others([&](std::size_t i) { program.send(whole(sent), turn.members[i]); });
    with_others([&](std::size_t i) { program.recv(whole(places[i]), turn.members[i]); });
    for (std::size_t i = 1; i < places.size(); ++i) program.reduce(whole(places[i - 1]), whole(places[i]));
  }
};

// A round's messages lie in scratch side by side.
int multiplying_radix(const Shape& shape, const AlgorithmOptions& options) {
  return std::min(radix_of(shape, options), largest_multiplying_radix(shape));
}

Rank product(const std::vector<Rank>& bases) {
  return std::accumulate(bases.begin(), bases.end(), Rank{1}, std::multiplies<>());
}

// Factors up to `radix`, largest first; none: there is a larger prime one.
std::vector<Rank> factors_within(Rank ranks, int radix) {
  std::vector<Rank> factors;
  for (Rank factor = radix; factor > 1; --factor)
    for (; ranks % factor == 0; ranks /= factor) factors.push_back(factor);
  return ranks == 1 ? factors : std::vector<Rank>();
}

// The digits' bases, least significant first: as many as there are of `radix`, and what still fits; or factors of all
// ranks, if that takes no more steps than folding.
std::vector<Rank> bases_within(Rank ranks, int radix) {
  std::vector<Rank> bases;
  for (Rank left = ranks; left > 1; left /= radix) bases.push_back(std::min(left, radix));
  if (product(bases) == ranks) return bases;
  std::vector<Rank> factors = factors_within(ranks, radix);
  return !factors.empty() && factors.size() <= bases.size() + 2 ? factors : bases;
}

}  // namespace

int largest_multiplying_radix(const Shape& shape, Chunk other_banks) {
  const Shape of_one_chunk{shape.collective, shape.ranks, 1, shape.root};
  const Chunk most = most_scratch(of_one_chunk) / of_one_chunk.whole() - other_banks;
  return std::max(k_doubling, most - Multiplying::banks(1) + 1);
}

Program recursive_multiplying_allreduce(const Shape& shape, Rank rank, int radix) {
  const std::vector<Rank> bases = bases_within(shape.ranks, radix);
  const Rank folded = shape.ranks - product(bases);
  const auto rank_of = [&](Rank acting) { return acting < folded ? 2 * acting : acting + folded; };
  const bool in_pair = rank < 2 * folded;
  Multiplying multiplying{ProgramBuilder(shape, rank), shape.ranks * shape.chunks, {}};
  const Step last = recursive_multiplying_allreduce_steps(shape.ranks, radix);

  if (in_pair && rank % 2 == 1) {
    multiplying.program.step(1).send(multiplying.whole(Multiplying::k_input), rank - 1);
    multiplying.program.step(last).recv(multiplying.whole(Multiplying::k_output), rank - 1);
    return std::move(multiplying.program).build();
  }
  if (in_pair) multiplying.turns.push_back({{rank, rank + 1}, 0, 1, false});
  const Rank acting = in_pair ? rank / 2 : rank - folded;
  Step step = folded > 0 ? 1 : 0;
  Rank unit = 1;
  for (const Rank base : bases) {
    const Rank digit = acting / unit % base;
    Multiplying::Turn turn{{}, index(digit), ++step};
    for (Rank i = 0; i < base; ++i) turn.members.push_back(rank_of(acting + (i - digit) * unit));
    multiplying.turns.push_back(std::move(turn));
    unit *= base;
  }
  multiplying.run();
  if (in_pair) multiplying.program.step(last).send(multiplying.whole(Multiplying::k_output), rank + 1);
  return std::move(multiplying.program).build();
}

Step recursive_multiplying_allreduce_steps(Rank ranks, int radix) {
  const std::vector<Rank> bases = bases_within(ranks, radix);
  return static_cast<Step>(bases.size()) + (ranks > product(bases) ? 2 : 0);
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
                                                             : recursive_multiplying_allreduce(shape, rank, k_doubling);
          },
      .steps = [](const Shape& shape,
                  const AlgorithmOptions&) { return recursive_multiplying_allreduce_steps(shape.ranks, k_doubling); },
      .describe = [](const Shape&, const AlgorithmOptions&) { return std::string(); },
      .properties =
          [](const Shape& shape, const AlgorithmOptions&) {
            const bool allreduce = shape.collective == Collective::allreduce;
            return Properties{.in_place = true, .keeps_rank_order = allreduce, .same_on_all_ranks = allreduce};
          },
  };
}

Algorithm recursive_multiplying_algorithm() {
  return {
      .name = "recursive-multiplying",
      .about = "recursive doubling of a larger radix: fewer rounds of more messages, whole vectors, in rank order",
      .collectives = {Collective::allreduce},
      .options = {radix_option_above_two("radix of recursive-multiplying")},
      .refusal = [](const Shape&, const AlgorithmOptions&) { return std::string(); },
      .chunks = [](const Shape&, const AlgorithmOptions&) { return Chunk{1}; },
      .program =
          [](const Shape& shape, Rank rank, const AlgorithmOptions& options) {
            return recursive_multiplying_allreduce(shape, rank, multiplying_radix(shape, options));
          },
      .steps =
          [](const Shape& shape, const AlgorithmOptions& options) {
            return recursive_multiplying_allreduce_steps(shape.ranks, multiplying_radix(shape, options));
          },
      .describe =
          [](const Shape& shape, const AlgorithmOptions& options) {
            return fmt::format("radix={}", multiplying_radix(shape, options));
          },
      .properties =
          [](const Shape&, const AlgorithmOptions&) {
            return Properties{.in_place = true, .keeps_rank_order = true, .same_on_all_ranks = true};
          },
      .variants =
          [](const Shape& shape, const AlgorithmOptions& given) {
            return radix_variants(shape, given, shape.ranks <= k_most_flat);
          },
      .repeats = [](const Shape& shape, const AlgorithmOptions&) { return shape.ranks <= 2; },  // recursive doubling
  };
}

}  // namespace colltopo
