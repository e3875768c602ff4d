// Times of collectives. One sample is a block of calls between two looks at the clock; a call costs what it costs the
// slowest rank. Contenders alternate block by block (A B, B A, A B ...), so that drift of a shared machine falls on
// both. Where ranks share processors they begin every block in another order.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace colltopo::bench {

/// How long to measure; 0 calls: as many as fit `seconds`.
struct Effort {
  long calls = 0;
  long warmup = 10;
  double seconds = 0.3;
  double pause_s = 0;     // between the barrier and each block: for networks in which large messages hold up small ones
  bool together = false;  // a barrier after each call, whose own time is measured and taken off
};

struct Pace {
  long blocks = 0;
  long calls = 0;  // per block
};

struct Quantiles {
  double p10 = 0;
  double median = 0;
  double p90 = 0;
};

/// Of any number of samples above 0, between neighbours by linear interpolation.
Quantiles quantiles(std::vector<double> samples);

struct Timing {
  Quantiles call_us;
  double ratio =
      0;  // median over the blocks of this one's time by the last one's, the last one's by the first's; 0: alone
};

struct Measured {
  std::vector<Timing> timings;  // [contender]
  Pace pace;
};

/// The seconds of the rank that has most. Collective.
double slowest(double seconds, MPI_Comm control);

/// Collective: `calls` of them as in blocks, for what chooses.
void settle(const std::function<void()>& call, long calls, MPI_Comm control);

/// Runs every call in turn; `control` is a communicator of the same ranks that none of them uses. Together no call
/// takes less than 5% of what it takes with the barrier. Collective.
Measured measure(std::span<const std::function<void()>> calls, const Effort& effort, MPI_Comm control);

}  // namespace colltopo::bench
