// The rows of the algorithm table; each is defined in the file that implements it.
#pragma once

#include "colltopo/algorithms.h"

namespace colltopo {

#define COLLTOPO_ROW(row) Algorithm row##_algorithm();
#include "algorithms/rows.inc"
#undef COLLTOPO_ROW

}  // namespace colltopo
