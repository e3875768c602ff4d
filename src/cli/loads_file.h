// Loads of links in a file, for pictures: what `colltopo bound --loads` computes, or what counters of a network said.
#pragma once

#include <string>
#include <vector>

#include "colltopo/draw.h"
#include "colltopo/topology.h"

namespace colltopo::cli {

struct FiledLoads {
  std::vector<double> loads;  // [link]
  LoadScale scale;
};

/// Comma-separated; the first line names the columns: `link`, `tail` and `head` by number, and `load` (times the bytes
/// of a call) or `bytes`. Others do not matter; links that are not named carry nothing. Throws Error with the line.
FiledLoads loads_in_file(const std::string& path, const Topology& topology);

}  // namespace colltopo::cli
