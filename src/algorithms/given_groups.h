// The groups that a row was given: by number, or those of the placement.
#pragma once

#include <memory>
#include <string>

#include "colltopo/algorithms.h"

namespace colltopo {

/// So many consecutive ranks each where a number is given, else those of the placement; `otherwise` where there are
/// none.
std::shared_ptr<const Groups> given_groups(const Shape& shape, const AlgorithmOptions& options, Rank otherwise);
/// Why they do not fit; empty: they do.
std::string refusal_of_groups(const Shape& shape, const AlgorithmOptions& options);
/// The option of all rows that have groups.
Option group_option(std::string_view otherwise);

}  // namespace colltopo
