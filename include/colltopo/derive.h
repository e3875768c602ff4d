// Collectives made from others: generators of trees, rings and Swing write only an allgather (or a bcast).
//
// Running an allgather backwards, with every receive turned into a send and every send into receive-and-reduce, is a
// reduce-scatter (De Sensi et al., 2.1; Zhao et al., in-trees). The transforms act on one rank's program alone, so a
// rank derives its part without seeing the others'. The program given must not use scratch, and must receive every
// foreign chunk exactly once into its place in output; otherwise Error.
//
// Partial results are kept in scratch slot i for vector chunk i. The first arrival of a chunk goes there too, later
// ones go to slots i + T and i + 2T (a vector has T chunks) in turn, so a receive does not wait for the reduction
// before it.
#pragma once

#include <span>

#include "colltopo/program.h"

namespace colltopo {

/// `steps` is always the number of steps of the given schedule over all ranks (Schedule::steps()): steps are mirrored.

Program reduce_scatter_from(const Program& allgather, Step steps);

/// reduce_scatter_from(allgather), then the allgather, whose steps follow the first half's.
Program allreduce_from(const Program& allgather, Step steps);

/// The same with an allgather of its own for each half, or the same on other lanes: `backward`, of `steps` steps, is
/// reversed.
Program allreduce_from(const Program& backward, const Program& forward, Step steps);

/// The same where hosts are roots of unequal parts of the vector: both programs are of allreduce's shape and only
/// spread its chunks from their roots, over `output`; `own` are the chunks whose root this rank is.
Program allreduce_from(const Program& backward, const Program& forward, const Run& own, Step steps);

/// reduce to the root from a bcast.
Program reduce_from(const Program& bcast, Step steps);

/// bcast of the root's shard along the paths that it takes in an allgather (a tree).
Program bcast_from(const Program& allgather, Rank root);

/// The allreduce with vector chunk x at place[x], `place` being a permutation that all ranks agree on: which part of
/// the vector is a rank's block is free, so what is sent together can lie together (De Sensi et al., 3.1.1). A message
/// lists its chunks by place at both ends.
Program relabelled(const Program& allreduce, std::span<const Chunk> place);

/// The same schedule with other ranks in its places: place p is taken by rank_at[p], a permutation. Peers, the root and
/// the shards that belong to ranks are renamed; the chunks of a vector (allreduce, bcast, reduce) stay what they are.
/// The result is the program of rank rank_at[program.rank()].
Program renamed(const Program& program, std::span<const Rank> rank_at);

}  // namespace colltopo
