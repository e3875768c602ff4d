// How large programs may become.
#pragma once

#include <algorithm>
#include <cstdint>

#include "colltopo/shape.h"

namespace colltopo {

/// Chunks of a call, over all shards or of the vector: places in buffers are 32-bit numbers, and scratch has several
/// banks of so many.
inline constexpr std::int64_t k_most_whole = std::int64_t{1} << 26;

/// Slots of scratch that a program may have. Plans keep a bit per slot up to the highest one used; no sensible program
/// is near this.
inline Chunk most_scratch(const Shape& shape) {
  return static_cast<Chunk>(std::clamp<std::int64_t>(std::int64_t{64} * shape.ranks * shape.chunks, 1 << 20, 1 << 30));
}

}  // namespace colltopo
