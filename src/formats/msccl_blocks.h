// A schedule as an MSCCL algorithm: programs become thread blocks.
#pragma once

#include "colltopo/schedule.h"
#include "formats/msccl.h"

namespace colltopo::msccl {

enum class Grouping : std::uint8_t {
  few_blocks,  // local steps in one thread block, a reduction with the receive before it
  apart        // every local step in a thread block of its own
};

/// One thread block for the sends to each peer on each lane and one for the receives, and for local steps. `in_place`:
/// it is to be right also when input and output are one memory. Throws Error when messages do not match.
Algorithm in_blocks(const Schedule& schedule, Grouping grouping, bool in_place);

/// Whether steps could wait for each other if a send waited for its receive. Schedules never do, but a thread block
/// runs its steps in order, where a schedule leaves it open.
bool needs_buffers(const Algorithm& algorithm);

}  // namespace colltopo::msccl
