// The algorithm table. What every row refuses alike is written here once: collectives that it does not do, no ranks,
// options out of range.

#include "algorithms/table.h"

#include <fmt/format.h>

#include <algorithm>

#include "colltopo/error.h"
#include "schedule/scratch.h"

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

// A value of a row's own options that is out of range; what other rows know does not concern it.
std::string refusal_of_values(const Algorithm& algorithm, const OptionValues& values) {
  for (const Option& option : algorithm.options) {
    const auto value = values.find(option.name);
    if (std::string reason = value ? refusal_of(option, *value) : ""; !reason.empty()) return reason;
  }
  return "";
}

// More chunks than a buffer may have.
std::string refusal_of_chunks(const Algorithm& algorithm, const Shape& shape, const AlgorithmOptions& options) {
  const CollectiveRow& row = colltopo::row(shape.collective);
  const Chunk chunks = algorithm.chunks(shape, options);
  const bool is_for_each_rank = row.counts_shards() || row.classes_by_rank;
  if (std::int64_t{chunks} * (is_for_each_rank ? shape.ranks : 1) <= k_most_whole) return "";
  return fmt::format("{} chunks{} on {} ranks: more than {} in all", chunks, is_for_each_rank ? " a shard" : "",
                     shape.ranks, k_most_whole);
}

// The row with those checks around its own, and without gaps.
Algorithm completed(Algorithm row) {
  row.refusal = [row](const Shape& shape, const AlgorithmOptions& options) {
    std::string reason = refusal_of_shape(row, shape);
    if (reason.empty()) reason = refusal_of_values(row, options.values);
    if (reason.empty()) reason = row.refusal(shape, options);
    return reason.empty() ? refusal_of_chunks(row, shape, options) : reason;
  };
  if (!row.properties) row.properties = [](const Shape&, const AlgorithmOptions&) { return Properties{}; };
  if (!row.variants)
    row.variants = [](const Shape&, const AlgorithmOptions& given) { return std::vector<AlgorithmOptions>{given}; };
  return row;
}

std::vector<Algorithm> rows() {
#define COLLTOPO_ROW(row) row##_algorithm(),
  std::vector<Algorithm> table = {
#include "algorithms/rows.inc"
  };
#undef COLLTOPO_ROW
  for (Algorithm& row : table) row = completed(std::move(row));
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
  const bool aggregates = algorithm.aggregates && scheduled(collective) == Collective::alltoall;
  if (row(collective).sizes == Sizes::of_messages && !algorithm.direct && !aggregates) return false;
  return std::find(algorithm.collectives.begin(), algorithm.collectives.end(), scheduled(collective)) !=
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
