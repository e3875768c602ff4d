// Variants of one row, priced by their programs.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "choice/profile.h"

namespace colltopo {

/// Bytes of scratch that a rank has at most, where they are more than the call's data.
inline constexpr std::size_t k_most_scratch = std::size_t{1} << 29;

/// An algorithm with all that it needs, at any size.
struct Variant {
  const Algorithm* algorithm = nullptr;
  AlgorithmOptions options;
  std::string name;     // "tra radix=4"
  std::string refusal;  // why it cannot serve the shape; the rest may be empty then
  Properties properties;
  Shape shape;
  Step steps = 0;                  // of the schedule
  std::optional<Counted> counted;  // where the row counts

  /// The price, `bytes` as in Request. The first one makes and reads programs: where one of them cannot be made there
  /// is a refusal from then on, and no price.
  double seconds(const Terrain& terrain, const Machine& machine, std::size_t bytes);
  /// What the row's count times the machine's parameters gives: no price, but it orders variants of a row.
  double counted_seconds(const Terrain& terrain, const Machine& machine, std::size_t bytes) const;
  /// No price is below it: what its steps take, and what must be sent.
  double least_seconds(const Terrain& terrain, const Machine& machine, std::size_t bytes) const;
  /// The same beside one of its row that cuts nothing into slices, and has a price.
  double least_seconds_beside(Variant& whole, const Terrain& terrain, const Machine& machine, std::size_t bytes) const;
  bool is_sliced() const;
  /// Whether `whole` is this one without slices.
  bool is_of(const Variant& whole) const;
  bool has_price() const { return !profiles_.empty(); }
  /// Up to which it can serve, once it has a price: beyond, a rank holds more for others than the call has data, and
  /// that is much. In bytes as in Request.
  std::size_t most_bytes() const;

 private:
  void read_programs(const Terrain& terrain);

  std::vector<Profile> profiles_;  // of several roots; the price is that of the worst
  Chunk scratch_ = 0;              // slots, the most of what was read
};

/// All of the row with these options; one that is refused, if the options are.
std::vector<Variant> variants_of(const Algorithm& algorithm, Collective collective, const AlgorithmOptions& given,
                                 Rank ranks);

/// One of them.
Variant variant_of(const Algorithm& algorithm, Collective collective, const AlgorithmOptions& options, Rank ranks);

/// Those that are worth a price at this size: without what is behind other variants of its row by the row's own
/// count (Fan et al., Propositions 1 to 4).
std::vector<Variant*> worth_a_price(std::span<Variant> all, const Terrain& terrain, const Machine& machine,
                                    std::size_t bytes);

}  // namespace colltopo
