// Into how many segments a call is cut: what filling and draining a pipeline costs, against what more messages cost.
//
// Over S segments, step d of segment s runs in slot d + s. A schedule of h steps takes S + h - 1 slots, and in the
// first and last h - 1 of them links may be idle: trees of height h lose up to (h - 1) / S. Rings lose nothing, because
// their channels carry the same in every step, and so need no segments. All ranks must find the same number, so it
// comes only from a StepPattern that all have agreed on and from the call's bytes.
#pragma once

#include <cstdint>

#include "colltopo/schedule.h"

namespace colltopo {

/// What the steps of a schedule say about pipelining. A channel is a lane from a rank to another.
struct StepPattern {
  Step steps = 0;             // of messages
  double unevenness = 1;      // the most that a channel carries in a step, over its mean: 1 on rings, up to `steps`
  bool in_order = true;       // steps never decrease in a program: SegmentOrder::slot_by_slot
  std::int64_t messages = 0;  // sent or received by the busiest rank
  std::int64_t chunks = 0;    // in them
  Sizes sizes = Sizes::of_messages;  // what it serves at most (colltopo/uneven.h)
};

/// Of one rank's program in a schedule of so many steps. An allreduce of an even number of steps counts as two halves,
/// the reduce_scatter and the allgather: its unevenness is the worse one's, and the busiest links of both count.
StepPattern step_pattern(const Program& program, Step steps);
/// The worse of both in everything: the pattern of a schedule is that of all its ranks.
StepPattern joined(const StepPattern& a, const StepPattern& b);
StepPattern step_pattern(const Schedule& schedule);

/// What over one segment would be lost to filling and draining at most, as a part of the time that the busiest link
/// needs; over S segments it is an S-th of this.
double fill_and_drain(const StepPattern& pattern, Collective collective);

/// A rank's way into the network.
struct Port {
  double overhead = 0;   // s, each message of a rank
  double bandwidth = 1;  // bytes/s
};

/// For a call of `bytes` (per shard for alltoall, allgather and reduce_scatter, of the vector for the others): as
/// many as make that loss 4%, unless ranks then spend half of the time on starting messages or these have less than 16
/// KiB on average. Reductions are cut into 4 at least, where that leaves 16 KiB, so that messages hide them. 1 for
/// alltoall, whose shards go their own ways, and where steps are out of order.
int segments_for(const StepPattern& pattern, const Shape& shape, double bytes, const Port& port);

/// Sends that each rank may have under way of the `asked` ones; 0: any number. Where messages wait for others and some
/// rank's steps decrease, that rank's earlier steps may wait for later ones of others: holding those back closes a
/// circle.
std::uint32_t window_for(const StepPattern& pattern, bool independent, std::uint32_t asked);

}  // namespace colltopo
