// Messages of runs as what others' formats have: moves of one stretch to one stretch.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "colltopo/schedule.h"

namespace colltopo {

struct Piece {
  Run source, target;  // of equal counts
};

/// Stretches in which neither list of runs begins a new one, none of more than `most` chunks.
std::vector<Piece> pieces_of(std::span<const Run> source, std::span<const Run> target, Chunk most);

/// The receive that each send meets, and the other way round; -1 for other ops: [rank][op]. Throws Error when a message
/// has no other end.
std::vector<std::vector<std::int32_t>> matches(const Schedule& schedule);

}  // namespace colltopo
