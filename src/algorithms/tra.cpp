// TRA, the tunable-radix all-to-all (Fan et al., III): Bruck's exchange among all ranks, one block per distance.
//
// Radix 2 takes the fewest rounds and moves the most data, radix P sends every block straight to its owner, and about
// the square root of P, the default, balances both. Only blocks that take more than one hop use scratch. Input and
// output must be different memory: blocks land while others of the same place have still to leave.

#include <fmt/format.h>

#include "algorithms/bruck_exchange.h"
#include "algorithms/properties.h"
#include "algorithms/table.h"

namespace colltopo {

namespace {

class Blocks {
 public:
  Blocks(Rank ranks, Rank rank) : ranks_(ranks), rank_(rank) {}

  template <typename Visit>
  void parcels(Rank, Rank, Rank, Visit visit) const {
    visit(Rank{0}, Chunk{1});
  }
  Rank rank_at(Rank offset, Rank) const { return wrapped(rank_ + offset); }
  void source(Rank distance, Rank, Runs& runs) const { runs.push_back({Buffer::input, wrapped(rank_ + distance), 1}); }
  void target(Rank distance, Rank, Runs& runs) const { runs.push_back({Buffer::output, wrapped(rank_ - distance), 1}); }

 private:
  Rank wrapped(Rank rank) const { return rank < 0 ? rank + ranks_ : rank < ranks_ ? rank : rank - ranks_; }

  Rank ranks_, rank_;
};

int tra_radix(const Shape& shape, const AlgorithmOptions& options) {
  return fitted_radix(options.values, "radix", shape.ranks);
}

Program tra(const Shape& shape, Rank rank, int radix) {
  ProgramBuilder program(shape, rank);
  program.copy({{Buffer::input, rank, 1}}, {{Buffer::output, rank, 1}});
  add_bruck_rounds(program, shape.ranks, bruck_rounds(shape.ranks, radix), Blocks(shape.ranks, rank), 0, 0);
  return std::move(program).build();
}

}  // namespace

Algorithm tra_algorithm() {
  return {
      .name = "tra",
      .about = "tunable-radix all-to-all (Fan et al., III): radix 2 fewest rounds ... radix P least data",
      .collectives = {Collective::alltoall},
      .options = {radix_option("radix", "radix of tra", "about the square root of the ranks")},
      .refusal = [](const Shape&, const AlgorithmOptions&) { return std::string(); },
      .chunks = [](const Shape&, const AlgorithmOptions&) { return Chunk{1}; },
      .program = [](const Shape& shape, Rank rank,
                    const AlgorithmOptions& options) { return tra(shape, rank, tra_radix(shape, options)); },
      .steps =
          [](const Shape& shape, const AlgorithmOptions& options) {
            return static_cast<Step>(bruck_count(shape.ranks, tra_radix(shape, options)).rounds);
          },
      .describe = [](const Shape& shape,
                     const AlgorithmOptions& options) { return fmt::format("radix={}", tra_radix(shape, options)); },
      .properties = properties_of_alltoall,
      .variants =
          [](const Shape& shape, const AlgorithmOptions& given) {
            std::vector<AlgorithmOptions> all;
            for (const int radix : radices_to_try(given.values, "radix", shape.ranks)) {
              all.push_back(given);
              all.back().values.set("radix", radix);
            }
            return all;
          },
      .counted =
          [](const Shape& shape, const AlgorithmOptions& options) {
            const BruckCount count = bruck_count(shape.ranks, tra_radix(shape, options));
            return Counted{.rounds_between = count.rounds, .shards_between = count.bundles};
          },
      .aggregates = true,
  };
}

}  // namespace colltopo
