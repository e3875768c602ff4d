// The command line of colltopo-fft3d.
#pragma once

#include <optional>

#include "plan.h"

namespace colltopo::fft3d {

struct Options {
  Grid grid{64, 64, 64};
  Decomposition decomposition = Decomposition::slab;
  Transform transform = Transform::c2c;
  Exchanging exchanging = Exchanging::alltoall;
  ProcessGrid processes;  // chosen from the grid when not given
  int iterations = 10;
  int warmup = 2;
  int counted = 1;  // pairs of transforms at the end, with no other message between them
  bool verify = false;
  bool json = false;
};

/// Either options, or the status to leave with (0 after --help, 2 after an error, said on standard error by rank 0).
struct Parsed {
  std::optional<Options> options;
  int status = 0;
};
Parsed parse(int argc, char** argv, int rank, int ranks);

}  // namespace colltopo::fft3d
