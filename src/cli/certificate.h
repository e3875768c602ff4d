// Files of the lengths of links that prove how fast an all-to-all can be at most (docs/all-to-all.md, "The
// certificate").
#pragma once

#include <string>
#include <vector>

#include "colltopo/routing.h"

namespace colltopo::cli {

struct Certificate {
  double claim = 0;  // of the file: 1/F is at least this
  std::vector<double> lengths;
};

std::string lengths_file(const Topology& topology, const FlowBound& bound);

/// Throws Error with file and line where the file does not give every link of the topology one length >= 0.
Certificate read_certificate(const std::string& path, const Topology& topology);

/// "7,0,3,": link and ends, the first fields of a line of CSV.
std::string line_start(const Topology& topology, LinkId id);

}  // namespace colltopo::cli
