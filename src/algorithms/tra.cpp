// TRA, the tunable-radix all-to-all (Fan et al., III): Bruck's exchange among all ranks, one block per distance.
//
// Radix 2 takes the fewest rounds and moves the most data, radix P sends every block straight to its owner, and about
// the square root of P, the default, balances both. Only blocks that take more than one hop use scratch. Input and
// output must be different memory: blocks land while others of the same place have still to leave.

#include <fmt/format.h>

#include "algorithms/bruck.h"
#include "algorithms/properties.h"
#include "algorithms/refusal.h"
#include "algorithms/table.h"

namespace colltopo {

namespace {

class Blocks final : public BruckTraffic {
 public:
  Blocks(Rank ranks, Rank rank) : ranks_(ranks), rank_(rank) {}

  void parcels(Rank, Rank, std::vector<Parcel>& found) const override { found.push_back({0, 1}); }
  Rank rank_at(Rank offset, Rank) const override { return wrapped(rank_ + offset); }
  void source(Rank distance, Rank, Runs& runs) const override {
    runs.push_back({Buffer::input, wrapped(rank_ + distance), 1});
  }
  void target(Rank distance, Rank, Runs& runs) const override {
    runs.push_back({Buffer::output, wrapped(rank_ - distance), 1});
  }

 private:
  Rank wrapped(Rank rank) const { return rank < 0 ? rank + ranks_ : rank < ranks_ ? rank : rank - ranks_; }

  Rank ranks_, rank_;
};

int radix_of(const Shape& shape, const AlgorithmOptions& options) {
  return options.radix == 0 ? balanced_radix(shape.ranks) : options.radix;
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
      .refusal =
          [](const Shape& shape, const AlgorithmOptions& options) {
            return options.radix == 0 ? "" : refusal_of_radix("radix", options.radix, shape.ranks);
          },
      .chunks = [](const Shape&, const AlgorithmOptions&) { return Chunk{1}; },
      .program = [](const Shape& shape, Rank rank,
                    const AlgorithmOptions& options) { return tra(shape, rank, radix_of(shape, options)); },
      .describe = [](const Shape& shape,
                     const AlgorithmOptions& options) { return fmt::format("radix={}", radix_of(shape, options)); },
      .properties = properties_of_alltoall,
  };
}

}  // namespace colltopo
