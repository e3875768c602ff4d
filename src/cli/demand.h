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

void bound_of_demand(const DemandArguments& arguments, const Topology& topology, Session& session);
void cost_of_demand(const std::string& demand_file, const Schedule& schedule, const Topology& topology,
                    const Session& session);

}  // namespace colltopo::cli
