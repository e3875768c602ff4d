// colltopo bound for what trees can do.
#pragma once

#include "cli/command.h"

namespace colltopo::cli {

/// allgather and reduce_scatter: the optimum, with the cut that proves it.
void bound_of_trees(Collective collective, const Topology& topology, int threads, const Session& session);

/// allreduce: what a reduce_scatter and then an allgather along optimal trees reach.
void add_pair_of_trees(Report& report, const Topology& topology, int threads);

}  // namespace colltopo::cli
