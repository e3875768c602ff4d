// The measurements themselves, one per kind of case, in this process.
#pragma once

#include "case.h"

namespace colltopo::bench {

/// Throws std::runtime_error when a call fails or a setting is refused.
Figures figures_of(const Case& one);

}  // namespace colltopo::bench
