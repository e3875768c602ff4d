// The option `radix` of rows that are one of radix 2 already, which other rows are: what it is, and what `auto` tries.
#pragma once

#include "colltopo/algorithms.h"

namespace colltopo {

/// Places that may all send to each other at once.
constexpr Rank k_most_flat = 16;

/// As given, no larger than the ranks; 4 where nobody says.
int radix_of(const Shape& shape, const AlgorithmOptions& options);
Option radix_option_above_two(std::string_view about);
/// "radix=4".
std::string describe_radix(const Shape& shape, const AlgorithmOptions& options);
/// As given, or radices from 3 to one that has two levels; and all ranks, which have one, where `is_flat_worth_it`.
std::vector<AlgorithmOptions> radix_variants(const Shape& shape, const AlgorithmOptions& given, bool is_flat_worth_it);

}  // namespace colltopo
