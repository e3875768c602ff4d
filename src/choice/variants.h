// Variants of one row, priced by their programs.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "choice/profile.h"

namespace colltopo {

/// An algorithm with all that it needs, at any size.
struct Variant {
  const Algorithm* algorithm = nullptr;
  AlgorithmOptions options;
  std::string name;     // "tra radix=4"
  std::string refusal;  // why it cannot serve the shape; the rest is empty then
  Properties properties;
  Shape shape;
  Step steps = 0;                  // of the schedule
  std::optional<Counted> counted;  // where the row counts

  /// The price, `bytes` as in Request. The first one makes and reads programs.
  double seconds(const Terrain& terrain, const Machine& machine, std::size_t bytes);
  /// What the row's count times the machine's parameters gives: no price, but it orders variants of a row.
  double counted_seconds(const Terrain& terrain, const Machine& machine, std::size_t bytes) const;
  /// No price is below it.
  double least_seconds(const Machine& machine) const;

 private:
  std::vector<Profile> profiles_;  // of several roots; the price is that of the worst
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
