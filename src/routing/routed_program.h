// The program of an all-to-all in which every shard goes straight to its owner, in parts by several lanes.
#pragma once

#include <utility>

#include "colltopo/program.h"

namespace colltopo {

/// `paths_of`: the lanes from one rank to another, each with `lane` and `chunks`, in the order of the shard's chunks.
template <class PathsOf>
Program routed_program(const Shape& shape, Rank rank, const PathsOf& paths_of) {
  const Chunk c = shape.chunks;
  ProgramBuilder program(shape, rank);
  program.step(0).copy({{Buffer::input, rank * c, c}}, {{Buffer::output, rank * c, c}});
  program.step(1);
  for (Rank distance = 1; distance < shape.ranks; ++distance) {
    const Rank source = (rank + shape.ranks - distance) % shape.ranks;
    const Rank target = (rank + distance) % shape.ranks;
    Chunk first = target * c;
    for (const auto& path : paths_of(rank, target)) {
      program.send({{Buffer::input, first, path.chunks}}, target, path.lane);
      first += path.chunks;
    }
    first = source * c;
    for (const auto& path : paths_of(source, rank)) {
      program.recv({{Buffer::output, first, path.chunks}}, source, path.lane);
      first += path.chunks;
    }
  }
  return std::move(program).build();
}

}  // namespace colltopo
