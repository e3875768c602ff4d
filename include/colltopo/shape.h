// What a schedule moves, without bytes: the collective, how many ranks, how many chunks.
//
// A rank sees three buffers of chunks: input (the user's send buffer), output (the user's receive buffer) and scratch
// (private). Sizes in bytes appear only when a plan is bound to a call (layout.h), so one schedule serves every count.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace colltopo {

using Rank = std::int32_t;   // a rank, or how many
using Chunk = std::int32_t;  // a chunk's index in its buffer, or how many
using Step = std::int32_t;   // a step of the schedule, from 1; global, see docs/schedule.md
using Lane = std::int32_t;   // which of the routes to a peer a message takes

enum class Collective : std::uint8_t { alltoall, allgather, reduce_scatter, allreduce, bcast, reduce };
inline constexpr int k_collectives = 6;

std::string_view name(Collective collective);
std::optional<Collective> collective_named(std::string_view name);

/// True for collectives whose programs contain reduce ops.
constexpr bool reduces(Collective c) {
  return c == Collective::reduce_scatter || c == Collective::allreduce || c == Collective::reduce;
}
/// True for collectives with a root rank.
constexpr bool rooted(Collective c) { return c == Collective::bcast || c == Collective::reduce; }

/// Chunks per buffer, with `chunks` = chunks per shard:
///
///   collective       input            output
///   alltoall         ranks * chunks   ranks * chunks   shard j goes to / comes from rank j
///   allgather        chunks           ranks * chunks   shard j comes from rank j
///   reduce_scatter   ranks * chunks   chunks           shard j is reduced to rank j
///   allreduce        ranks * chunks   ranks * chunks   one vector, cut into ranks * chunks chunks
///   bcast            chunks at root   chunks           one vector, cut into `chunks`; the root has no output
///   reduce           chunks           chunks at root   one vector, cut into `chunks`
struct Shape {
  Collective collective = Collective::alltoall;
  Rank ranks = 1;
  Chunk chunks = 1;
  Rank root = 0;  // bcast and reduce only; otherwise 0

  Chunk input_chunks(Rank rank) const;
  Chunk output_chunks(Rank rank) const;

  /// Chunks of one size class follow each other with this period. Chunk i of input and output, and slot i of scratch,
  /// belong to a class in [0, classes()): chunks of one class have equal byte counts on every rank, so a value may only
  /// be kept in a scratch slot of its own class. With one chunk per shard of equal size every slot fits every value.
  Chunk classes() const;
  Chunk input_class(Rank rank, Chunk chunk) const;
  Chunk output_class(Rank rank, Chunk chunk) const;

  /// The output chunk that is the same memory as input chunk 0 under MPI_IN_PLACE (rank * chunks for allgather, else
  /// 0).
  Chunk in_place_offset(Rank rank) const;

  friend bool operator==(const Shape&, const Shape&) = default;
};

}  // namespace colltopo
