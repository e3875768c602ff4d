// Which programs serve calls whose shards have sizes of their own (MPI's v and w calls).
//
// A program says which chunks go where, never how large they are; so one made for equal shards serves others as long as
// both ends of each message know its length, and no chunk is kept in a slot of scratch, whose size would have to be
// that of any shard.
#pragma once

#include "colltopo/program.h"

namespace colltopo {

/// Of a right schedule. Where all ranks know all sizes, any program without scratch that writes each chunk of output
/// once. Where a shard's size is known to the rank that has it and the one that gets it alone, only those of them whose
/// messages go from the one to the other. Equal sizes: any.
bool serves(const Program& program, Sizes sizes);

}  // namespace colltopo
