// Ranks on hosts for `colltopo prepare`: so many on each, or as a host file of mpirun says.
#pragma once

#include <string>
#include <vector>

#include "colltopo/topology.h"

namespace colltopo::cli {

/// The network with the names that the job's hosts have, and the ranks on each of them.
struct Hosts {
  Topology machine;
  std::vector<int> ranks_on;  // [host]
};

/// `file`: lines "node1", "node1 slots=4" or "node1:4"; a name may come again. Hosts are met by name; a network that
/// names none of them gets these names in order, if there are as many. Throws Error naming file and line.
Hosts hosts_of_file(Topology machine, const std::string& file);

}  // namespace colltopo::cli
