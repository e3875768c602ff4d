#include "colltopo/uneven.h"

#include <algorithm>
#include <vector>

namespace colltopo {

namespace {

/// The rank that gets a shard, of which a chunk of input is.
Rank destination(const Shape& shape, Rank rank, Chunk input_chunk) {
  const CollectiveRow& row = colltopo::row(shape.collective);
  if (row.input.holds == Holds::shards) return input_chunk / shape.chunks;
  return row.output.holders == Holders::root ? shape.root : rank;
}

bool all_chunks(std::span<const Run> runs, Buffer buffer, const auto& holds) {
  return std::ranges::all_of(runs, [&](const Run& run) {
    if (run.buffer != buffer) return false;
    for (Chunk chunk = run.first; chunk < run.first + run.count; ++chunk)
      if (!holds(chunk)) return false;
    return true;
  });
}

/// What it sends is its own and for the peer, what it receives the peer's own and where it belongs.
bool is_direct(const Program& program, const Op& op) {
  const Shape& shape = program.shape();
  const Rank rank = program.rank();
  switch (op.action) {
    case Action::send:
      return all_chunks(op.source, Buffer::input,
                        [&](Chunk chunk) { return destination(shape, rank, chunk) == op.peer; });
    case Action::recv:
      return all_chunks(op.target, Buffer::output,
                        [&](Chunk chunk) { return shape.origin(rank, chunk).rank == op.peer; });
    case Action::copy:
      return all_chunks(op.source, Buffer::input, [&](Chunk chunk) { return destination(shape, rank, chunk) == rank; });
    default:
      return false;
  }
}

/// What is in a chunk of output at the end, which is right, is then the only thing that ever was there: nothing lies in
/// the place of another shard, however short.
bool writes_output_once(const Program& program) {
  std::vector<bool> written(static_cast<std::size_t>(program.shape().output_chunks(program.rank())), false);
  for (std::size_t i = 0; i < program.size(); ++i)
    for (const Run& run : program.op(i).target)
      for (Chunk chunk = run.first; chunk < run.first + run.count; ++chunk) {
        if (written[static_cast<std::size_t>(chunk)]) return false;
        written[static_cast<std::size_t>(chunk)] = true;
      }
  return true;
}

}  // namespace

bool serves(const Program& program, Sizes sizes) {
  if (sizes == Sizes::equal) return true;
  if (program.scratch() > 0 || !writes_output_once(program)) return false;
  if (sizes == Sizes::of_ranks) return true;
  const CollectiveRow& row = colltopo::row(program.shape().collective);
  if (row.combines || row.spreads) return false;
  for (std::size_t i = 0; i < program.size(); ++i)
    if (!is_direct(program, program.op(i))) return false;
  return true;
}

}  // namespace colltopo
