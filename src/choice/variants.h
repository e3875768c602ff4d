// Variants of one row, priced by their programs.
#pragma once

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
  std::string refusal;  // why it cannot serve the shape; there are no profiles then
  Properties properties;
  Shape shape;
  std::vector<Profile> profiles;  // of several roots; the price is that of the worst

  /// `bytes` as in Request.
  double seconds(const Machine& machine, std::size_t bytes) const;
};

/// What is worth a price of the row with these options: without what, by the row's own count, can win at no size.
std::vector<Variant> variants_of(const Algorithm& algorithm, Collective collective, const AlgorithmOptions& given,
                                 const Terrain& terrain, const Machine& machine);

/// One of them, with its profiles.
Variant variant_of(const Algorithm& algorithm, Collective collective, const AlgorithmOptions& options,
                   const Terrain& terrain);

}  // namespace colltopo
