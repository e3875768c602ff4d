// What `colltopo bound alltoallv` and `cost --demand` say about traffic of its own sizes.
#pragma once

#include <limits>
#include <string>

#include "cli/command.h"
#include "colltopo/demand.h"
#include "colltopo/synthesis.h"

namespace colltopo::cli {

struct DemandArguments {
  std::string demand;  // files
  std::string lengths;
  std::string loads;
  std::string check_lengths;
  SynthesisOptions options;
};

/// Of a file, or - for standard input, on a network.
Demand demand_argument(const std::string& path, const Topology& topology);
/// "1.2e+06 between 27 hosts".
std::string demand_text(const Demand& demand);

void bound_of_demand(const DemandArguments& arguments, const Topology& topology, Session& session);
void cost_of_demand(const std::string& demand_file, const Schedule& schedule, const Topology& topology,
                    const Session& session);

}  // namespace colltopo::cli
