#include "algorithms/table.h"

#include <algorithm>
#include <array>

#include "colltopo/error.h"

namespace colltopo {

std::span<const Algorithm> algorithms() {
  static const std::vector<Algorithm> table = {
      tra_algorithm(),
      tra2_algorithm(),
  };
  return table;
}

const Algorithm* algorithm_named(std::string_view name) {
  const auto all = algorithms();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Algorithm& a) { return a.name == name; });
  return found == all.end() ? nullptr : &*found;
}

bool serves(const Algorithm& algorithm, Collective collective) {
  return std::find(algorithm.collectives.begin(), algorithm.collectives.end(), collective) !=
         algorithm.collectives.end();
}

Schedule generate(const Algorithm& algorithm, Shape shape, const AlgorithmOptions& options) {
  if (const std::string refusal = algorithm.refusal(shape, options); !refusal.empty()) throw Error(refusal);
  shape.chunks = algorithm.chunks(shape, options);
  const std::string details = algorithm.describe(shape, options);
  return schedule_of(std::string(algorithm.name) + (details.empty() ? "" : " " + details), shape,
                     [&](Rank rank) { return algorithm.program(shape, rank, options); });
}

}  // namespace colltopo
