// The groups that a row was given: by number, or those of the placement.
#pragma once

#include <memory>
#include <string>

#include "colltopo/algorithms.h"

namespace colltopo {

/// So many consecutive ranks each where a number is given, else those of the placement; `otherwise` where there are
/// none: nobody shares one.
std::shared_ptr<const Groups> given_groups(const Shape& shape, const AlgorithmOptions& options, Rank otherwise = 1);
/// Why they do not fit; empty: they do.
std::string refusal_of_groups(const Shape& shape, const AlgorithmOptions& options);
/// Whether all ranks share a group, or none do: of two levels one is left.
bool is_one_level(const Groups& groups);
/// The same of a row's given_groups(), for its `repeats`.
bool given_one_level(const Shape& shape, const AlgorithmOptions& options);
/// "group=4", or "groups=3 up-to=4" where they differ.
std::string sizes_of_groups(const Groups& groups);
/// The option of all rows that have groups.
Option group_option(std::string_view otherwise);

}  // namespace colltopo
