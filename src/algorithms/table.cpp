// The algorithm table. What every row refuses alike is written here once: collectives that it does not do, and no
// ranks.

#include "algorithms/table.h"

#include <fmt/format.h>

#include <algorithm>

#include "colltopo/error.h"

namespace colltopo {

namespace {

std::string refusal_of_shape(const Algorithm& algorithm, const Shape& shape) {
  if (shape.ranks < 1) return fmt::format("{} ranks: must be at least 1", shape.ranks);
  if (!serves(algorithm, shape.collective)) {
    std::string served;
    for (const Collective collective : algorithm.collectives) served += fmt::format(" {}", name(collective));
    return fmt::format("{} is not what {} does; it does:{}", name(shape.collective), algorithm.name, served);
  }
  const Rank roots = rooted(shape.collective) ? shape.ranks : 1;
  if (shape.root < 0 || shape.root >= roots) return fmt::format("root {} is not in 0..{}", shape.root, roots - 1);
  return "";
}

// The row with that check in front of its own.
Algorithm checked(Algorithm row) {
  row.refusal = [row](const Shape& shape, const AlgorithmOptions& options) {
    std::string reason = refusal_of_shape(row, shape);
    return reason.empty() ? row.refusal(shape, options) : reason;
  };
  return row;
}

std::vector<Algorithm> rows() {
  std::vector<Algorithm> table = {
      tra_algorithm(),
      tra2_algorithm(),
      linear_algorithm(),
      pairwise_algorithm(),
      bruck_algorithm(),
      ring_algorithm(),
      recursive_doubling_algorithm(),
      recursive_halving_algorithm(),
      binomial_algorithm(),
      scatter_allgather_algorithm(),
      two_level_algorithm(),
      swing_algorithm(),
      swing_latency_algorithm(),
      mirrored_algorithm(),
      bucket_algorithm(),
      hamiltonian_algorithm(),
  };
  for (Algorithm& row : table) row = checked(std::move(row));
  return table;
}

}  // namespace

std::span<const Algorithm> algorithms() {
  static const std::vector<Algorithm> table = rows();
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
