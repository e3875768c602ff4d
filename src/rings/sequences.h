// A ring as one sequence per switch: the order in which the ring passes its machines and the subtrees below it.
#pragma once

#include <cstdint>
#include <vector>

#include "colltopo/rings.h"

namespace colltopo {

/// One of a machine or a subtree.
struct Item {
  Rank machine = -1;
  std::int32_t subtree = -1;  // its switch
};

/// [switch]
using Sequences = std::vector<std::vector<Item>>;

/// The ring. Machines of every subtree stand together on it, whatever the sequences, so it is free of contention
/// (Lemma 2).
std::vector<Rank> ring_of(const SpanningTree& tree, const Sequences& sequences);

}  // namespace colltopo
