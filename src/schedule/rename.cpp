// Other ranks in the places of a schedule.
#include <algorithm>
#include <utility>

#include "colltopo/derive.h"

namespace colltopo {

namespace {

bool shards_belong_to_ranks(const Shape& shape, Buffer buffer) {
  const CollectiveRow& row = colltopo::row(shape.collective);
  if (buffer == Buffer::scratch) return row.counts_shards() && row.classes_by_rank;  // slots are of a shard's classes
  return (buffer == Buffer::input ? row.input : row.output).holds == Holds::shards;
}

/// Runs with every shard moved to where its new owner's lies.
Runs moved(const Shape& shape, std::span<const Run> runs, std::span<const Rank> rank_at) {
  Runs result;
  for (const Run& run : runs) {
    if (!shards_belong_to_ranks(shape, run.buffer)) {
      result.push_back(run);
      continue;
    }
    for (Chunk first = run.first; first < run.first + run.count;) {
      const Chunk shard = first / shape.chunks;  // scratch: every `ranks` shards begin again
      const Chunk count = std::min((shard + 1) * shape.chunks, run.first + run.count) - first;
      const Chunk bank = shard / shape.ranks * shape.ranks;
      const Chunk target = bank + rank_at[static_cast<std::size_t>(shard - bank)];
      result.push_back({run.buffer, target * shape.chunks + first % shape.chunks, count});
      first += count;
    }
  }
  return result;
}

}  // namespace

Program renamed(const Program& program, std::span<const Rank> rank_at) {
  const auto rank = [&](Rank place) { return rank_at[static_cast<std::size_t>(place)]; };
  Shape shape = program.shape();
  if (rooted(shape.collective)) shape.root = rank(shape.root);
  ProgramBuilder builder(shape, rank(program.rank()));
  for (std::size_t i = 0; i < program.size(); ++i) {
    const Op op = program.op(i);
    Op there = op;
    if (op.action == Action::send || op.action == Action::recv) there.peer = rank(op.peer);
    builder.add(there, moved(shape, op.source, rank_at), moved(shape, op.target, rank_at));
  }
  return std::move(builder).build();
}

}  // namespace colltopo
