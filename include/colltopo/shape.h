// What a schedule moves, without bytes: the collective, how many ranks, how many chunks.
//
// A rank sees three buffers of chunks: input (the user's send buffer), output (the user's receive buffer) and scratch
// (private). Sizes in bytes appear only when a plan is bound to a call (layout.h), so one schedule serves every count.
#pragma once

#include <cstdint>

#include "colltopo/collective.h"

namespace colltopo {

using Rank = std::int32_t;   // a rank, or how many
using Chunk = std::int32_t;  // a chunk's index in its buffer, or how many
using Step = std::int32_t;   // a step of the schedule, from 1; global, see docs/schedule.md
using Lane = std::int32_t;   // which of the routes to a peer a message takes

/// Where the value of an output chunk comes from.
struct Origin {
  Rank rank = 0;    // whose input; of no meaning where the collective combines: everybody's
  Chunk chunk = 0;  // of the input, or of the vector that is reduced

  friend bool operator==(const Origin&, const Origin&) = default;
};

/// Chunks per buffer, with `chunks` = chunks per shard:
///
///   collective       input            output
///   alltoall         ranks * chunks   ranks * chunks   shard j goes to / comes from rank j
///   allgather        chunks           ranks * chunks   shard j comes from rank j
///   reduce_scatter   ranks * chunks   chunks           shard j is reduced to rank j
///   allreduce        ranks * chunks   ranks * chunks   one vector, cut into ranks * chunks chunks
///   bcast            chunks at root   chunks           one vector, cut into `chunks`; the root has no output
///   reduce           chunks           chunks at root   one vector, cut into `chunks`
///   gather           chunks           ranks * chunks at root   shard j comes from rank j
///   scatter          ranks * chunks at root   chunks   shard j goes to rank j
struct Shape {
  Collective collective = Collective::alltoall;
  Rank ranks = 1;
  Chunk chunks = 1;
  Rank root = 0;  // of rooted collectives; otherwise 0

  Chunk input_chunks(Rank rank) const;
  Chunk output_chunks(Rank rank) const;

  /// Chunks that the count of a call is cut into: those of a shard, or of the vector.
  Chunk parts() const;
  /// Chunks of all shards, or of the vector.
  Chunk whole() const;

  /// Chunks of one size class follow each other with this period. Chunk i of input and output, and slot i of scratch,
  /// belong to a class in [0, classes()): chunks of one class have equal byte counts on every rank, so a value may only
  /// be kept in a scratch slot of its own class. With one chunk per shard of equal size every slot fits every value.
  Chunk classes() const;
  Chunk input_class(Rank rank, Chunk chunk) const;
  Chunk output_class(Rank rank, Chunk chunk) const;

  /// What an output chunk must be in the end.
  Origin origin(Rank rank, Chunk output_chunk) const;

  /// The output chunk that is the same memory as input chunk 0 under MPI_IN_PLACE. Negative where the output lies in
  /// the input, beginning with chunk -in_place_offset().
  Chunk in_place_offset(Rank rank) const;
  /// Under MPI_IN_PLACE it is the output that the caller does not give (scatter).
  bool output_in_input() const;

  friend bool operator==(const Shape&, const Shape&) = default;
};

}  // namespace colltopo
