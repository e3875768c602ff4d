// What the model's constants are on this machine, in the model's own terms: a step's latency is what an exchange of 8
// bytes takes, a node's bandwidth what its ranks get out of it together.
#pragma once

#include <mpi.h>

#include <map>
#include <string>
#include <vector>

namespace colltopo::probe {

/// Where the ranks of MPI_COMM_WORLD are.
struct Places {
  Places();

  int rank = 0, ranks = 1;
  std::vector<std::string> host_of;        // [rank]
  std::vector<std::string> hosts;          // in the order of their first ranks
  std::vector<int> node_of;                // [rank] index into hosts
  std::vector<std::vector<int>> ranks_on;  // [node]
  int position = 0;                        // of this rank on its node

  int ranks_per_host() const;  // of the fullest
};

struct Measurements {
  std::map<std::string, double> loaded, alone;
};

/// Collective; takes about a tenth of a second for each of a dozen patterns.
Measurements measure(const Places& places);

}  // namespace colltopo::probe
