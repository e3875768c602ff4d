// What follows from a collective's row, for so many ranks and chunks.
#include "colltopo/shape.h"

namespace colltopo {

namespace {

bool has(const Shape& shape, const Content& content, Rank rank) {
  return content.holders == Holders::everyone || (content.holders == Holders::root) == (rank == shape.root);
}

Chunk chunks_of(const Shape& shape, const Content& content, Rank rank) {
  if (!has(shape, content, rank)) return 0;
  return content.holds == Holds::shards  ? shape.ranks * shape.chunks
         : content.holds == Holds::shard ? shape.chunks
                                         : shape.classes();
}

Chunk class_of(const Shape& shape, const Content& content, Rank rank, Chunk chunk) {
  return ((content.holds == Holds::shard ? rank * shape.chunks : 0) + chunk) % shape.classes();
}

}  // namespace

Chunk Shape::input_chunks(Rank rank) const { return chunks_of(*this, row(collective).input, rank); }

Chunk Shape::output_chunks(Rank rank) const { return chunks_of(*this, row(collective).output, rank); }

Chunk Shape::parts() const { return row(collective).counts_shards() ? chunks : classes(); }

Chunk Shape::whole() const { return row(collective).counts_shards() ? ranks * chunks : classes(); }

Chunk Shape::classes() const { return row(collective).classes_by_rank ? ranks * chunks : chunks; }

Chunk Shape::input_class(Rank rank, Chunk chunk) const { return class_of(*this, row(collective).input, rank, chunk); }

Chunk Shape::output_class(Rank rank, Chunk chunk) const { return class_of(*this, row(collective).output, rank, chunk); }

Origin Shape::origin(Rank rank, Chunk output_chunk) const {
  const CollectiveRow& row = colltopo::row(collective);
  if (row.combines) return {root, (row.output.holds == Holds::shard ? rank * chunks : 0) + output_chunk};
  const bool shards = row.output.holds == Holds::shards;
  const Rank from = shards ? output_chunk / chunks : row.input.holders == Holders::root ? root : rank;
  return {from,
          (row.input.holds == Holds::shards ? rank * chunks : 0) + (shards ? output_chunk % chunks : output_chunk)};
}

bool Shape::output_in_input() const {
  const CollectiveRow& row = colltopo::row(collective);
  return !row.combines && row.input.holds == Holds::shards && row.output.holds == Holds::shard;
}

// Where one buffer holds the rank's own shard and the other everybody's, the former lies in the latter, unless the
// result has a buffer that nothing else needs (reduce_scatter: input and output begin together).
Chunk Shape::in_place_offset(Rank rank) const {
  const CollectiveRow& row = colltopo::row(collective);
  if (row.combines || row.input.holds == row.output.holds) return 0;
  if (!has(*this, row.input, rank) || !has(*this, row.output, rank)) return 0;
  return output_in_input() ? -rank * chunks : rank * chunks;
}

}  // namespace colltopo
