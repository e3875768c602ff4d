// Slurm's host list expressions: "tux[0-3,12,18-20],login" names tux0 tux1 tux2 tux3 tux12 tux18 tux19 tux20 login.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "import/source.h"

namespace colltopo::import {

/// The names in their order. Numbers keep the width of the first of their range ("n[08-10]" is n08 n09 n10); several
/// brackets multiply, the last varies fastest.
std::vector<std::string> expand_host_list(std::string_view expression, const Source& source, std::int64_t line);

}  // namespace colltopo::import
