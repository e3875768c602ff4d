// colltopo bound for what trees can do.
#pragma once

#include "cli/command.h"

namespace colltopo::cli {

/// allgather and reduce_scatter: the optimum, with the cut that proves it.
void bound_of_trees(Collective collective, const Topology& topology, int threads, const Session& session);

/// bcast and reduce: the narrowest cut from, or to, the root.
void bound_of_root(Collective collective, const Topology& topology, NodeId root, const Session& session);

/// allreduce: the best along trees, if its programme is small enough, and what a reduce_scatter and then an allgather
/// along optimal trees reach.
void add_pair_of_trees(Report& report, const Topology& topology, int threads);

}  // namespace colltopo::cli
