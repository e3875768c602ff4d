// The steps of a schedule in reports: the same keys wherever they stand.
#pragma once

#include <nlohmann/json.hpp>

#include "colltopo/cost.h"

namespace colltopo::cli {

nlohmann::ordered_json steps_json(const Cost& cost);

}  // namespace colltopo::cli
