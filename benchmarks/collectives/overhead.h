// What coll/topo costs besides the network: the first call of a communicator, a call with its plan cached, a message of
// it, and the memory that a communicator holds.
#pragma once

#include <mpi.h>

#include <string>

#include "contender.h"
#include "exchange.h"
#include "timing.h"

namespace colltopo::bench {

struct Overhead {
  std::string algorithm;         // that is shown: what was asked for, or `instead`'s fastest
  std::string instead;           // not empty: auto leaves the call to Open MPI; these were tried for it
  double first_call_us = 0;      // median over the fresh communicators: settings agreed, plan made, call done
  double cached_call_us = 0;     // median
  double native_call_us = 0;     // the same call without coll/topo, in alternating blocks
  double cached_ratio = 0;       // paired
  double messages_per_call = 0;  // sent by this rank
  double cached_op_us = 0;       // cached call by the messages sent and received in it
  double plan_hit_share = 0;     // of the timed calls
  double created_bytes = 0;      // per communicator: MPI_Comm_dup_with_info, less what it takes without coll/topo
  double used_bytes = 0;         // per communicator: its first call, less what it takes without coll/topo
};

/// Collective. A call that is left to Open MPI says nothing about a plan's cost: where `algorithm` is auto and
/// declines, the fastest of the algorithms for any number of ranks is shown instead. `communicators`: how many fresh
/// duplicates the memory is averaged over.
Overhead overhead(const Case& what, const std::string& algorithm, int communicators, const Effort& effort,
                  const Counters& counters, MPI_Comm control);

}  // namespace colltopo::bench
