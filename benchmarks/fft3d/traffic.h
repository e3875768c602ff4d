// Who served the exchanges, and what crossed nodes by coll/topo's own counters.
#pragma once

#include <mpi.h>

#include <map>
#include <string>

#include "probe/counters.h"

namespace colltopo::fft3d {

/// Sent by all ranks together.
struct Traffic {
  unsigned long long messages = 0;
  unsigned long long bytes = 0;
  unsigned long long messages_between_nodes = 0;
  unsigned long long bytes_between_nodes = 0;
};

struct TrafficReport {
  int nodes = 0;
  bool has_topo = false;              // coll/topo is loaded
  Traffic topo;                       // what it sent
  unsigned long long calls = 0;       // MPI_Alltoall calls of all ranks
  unsigned long long topo_calls = 0;  // of them served by coll/topo
  std::string topo_algorithm;
};

class TrafficMeter {
 public:
  explicit TrafficMeter(MPI_Comm comm);

  void begin();
  /// After `calls` calls of MPI_Alltoall on this rank since begin(), and nothing else. Collective; rank 0 has the sums.
  TrafficReport end(unsigned long long calls);

 private:
  MPI_Comm comm_;
  int nodes_ = 0;
  Counters counters_;
  std::map<std::string, unsigned long long> counters_before_;
};

}  // namespace colltopo::fft3d
