// Bruck's allgather (Bruck et al. 1997, the concatenation algorithm) with radix r, without rotation.
//
// Before step x a rank has the blocks of the r^x ranks from itself on; in it, it gets the next as many from each of the
// ranks z r^x ahead, z < r, or what is missing at the end of the circle. Every block arrives once, at its place in
// output, so that the reversed program is a reduce-scatter of any number of ranks with the least data in
// ceil(log_r ranks) steps.

#include "algorithms/bruck_allgather.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "algorithms/bruck.h"
#include "algorithms/properties.h"
#include "algorithms/table.h"

namespace colltopo {

namespace {

// Calls visit(step, distance, blocks) for every message.
template <typename Visit>
void each_distance(Rank ranks, int radix, Visit visit) {
  Step step = 0;
  for (std::int64_t held = 1; held < ranks; held *= radix) {
    ++step;
    for (std::int64_t distance = held; distance < ranks && distance < held * radix; distance += held) {
      visit(step, static_cast<Rank>(distance), static_cast<Rank>(std::min(held, ranks - distance)));
    }
  }
}

int allgather_radix(const Shape& shape, const AlgorithmOptions& options) {
  return fitted_radix(options.values, "radix", shape.ranks, 2);
}

}  // namespace

Program bruck_allgather(const Shape& shape, Rank rank, int radix) {
  const Rank ranks = shape.ranks;
  const Chunk chunks = shape.chunks;
  const auto blocks_from = [&](Rank first, Rank count) {  // around the end of the circle: two runs
    const Rank before_end = std::min(count, ranks - first);
    return Runs{{Buffer::output, first * chunks, before_end * chunks},
                {Buffer::output, 0, (count - before_end) * chunks}};
  };

  ProgramBuilder program(shape, rank);
  program.copy({{Buffer::input, 0, chunks}}, {{Buffer::output, rank * chunks, chunks}});
  each_distance(ranks, radix, [&](Step step, Rank distance, Rank blocks) {
    const Rank ahead = (rank + distance) % ranks;
    program.step(step);
    program.send(blocks_from(rank, blocks), (rank - distance + ranks) % ranks);
    program.recv(blocks_from(ahead, blocks), ahead);
  });
  return std::move(program).build();
}

Step bruck_allgather_steps(Rank ranks, int radix) {
  Step steps = 0;
  each_distance(ranks, radix, [&](Step step, Rank, Rank) { steps = step; });
  return steps;
}

Algorithm bruck_algorithm() {
  return {
      .name = "bruck",
      .about = "Bruck's allgather: ceil(log2 ranks) steps, or fewer steps of more messages with a larger radix",
      .collectives = {Collective::allgather},
      .options = {radix_option("radix", "radix of bruck", "2")},
      .refusal = [](const Shape&, const AlgorithmOptions&) { return std::string(); },
      .chunks = [](const Shape&, const AlgorithmOptions&) { return Chunk{1}; },
      .program =
          [](const Shape& shape, Rank rank, const AlgorithmOptions& options) {
            return bruck_allgather(shape, rank, allgather_radix(shape, options));
          },
      .steps =
          [](const Shape& shape, const AlgorithmOptions& options) {
            return bruck_allgather_steps(shape.ranks, allgather_radix(shape, options));
          },
      .describe =
          [](const Shape& shape, const AlgorithmOptions& options) {
            return fmt::format("radix={}", allgather_radix(shape, options));
          },
      .properties = properties_of_derived,
      .variants =
          [](const Shape& shape, const AlgorithmOptions& given) {
            std::vector<AlgorithmOptions> all;
            for (const int radix :
                 given.values.find("radix") ? std::vector{allgather_radix(shape, given)} : std::vector{2, 4}) {
              if (radix > std::max(2, static_cast<int>(shape.ranks))) continue;
              all.push_back(given);
              all.back().values.set("radix", radix);
            }
            return all;
          },
  };
}

}  // namespace colltopo
