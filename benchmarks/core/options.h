// The command line of colltopo-bench-core.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "marks.h"

namespace colltopo::bench {

struct Options {
  std::vector<Mark> cases;  // in the order asked for
  bool marks = false;       // they are the preset, and its marks count
  int repeats = 5;
  bool json = false;
  std::string csv;  // a file; empty: none
};

/// Either options, or the status to leave with (0 after --help, 2 after an error, said on standard error).
struct Parsed {
  std::optional<Options> options;
  int status = 0;
};
Parsed parse(int argc, char** argv);

}  // namespace colltopo::bench
