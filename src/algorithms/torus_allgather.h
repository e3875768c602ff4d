// Allgathers on tori, made of allgathers on rings (De Sensi et al. 2024, 4).
//
// An allgather in which every message stays within one dimension, and in which what a rank does in a dimension depends
// on its coordinate there alone, keeps at each rank a product of sets: the blocks whose coordinates it has gathered in
// each dimension. So a step in one dimension sends (what the ring's step sends) x (what is held in the others), and
// every block arrives exactly once on the torus because every coordinate does on its ring. This holds for sides of any
// kind, in any order of the dimensions: odd sides need nothing more than an odd ring.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "algorithms/torus.h"

namespace colltopo {

/// Blocks swapped with one peer; coordinates on the ring, in increasing order.
struct Exchange {
  Rank peer = 0;
  std::vector<Rank> send, recv;
};

/// What one coordinate does in an allgather on its ring: [step] exchanges. The number of steps depends on the side
/// alone.
using RingSteps = std::vector<std::vector<Exchange>>;
using RingAllgather = std::function<RingSteps(Rank side, Rank coordinate)>;

/// For each coordinate of a ring, a number that sorts together what is sent together. Bit i belongs to step i of the
/// allgather: coordinates that differ there alone, or below, have been gathered together after that step.
using RingOrder = std::function<std::vector<std::uint32_t>(Rank side)>;

/// How many steps that is.
using RingStepCount = Step (*)(Rank side);

/// In which order a collective takes its dimensions when it reduces (an allgather goes backwards).
/// alternating: a step in each in turn. one_by_one: all of one, then all of the next, in phases that all ports share.
enum class DimensionOrder : std::uint8_t { alternating, one_by_one };

/// A collective derived from the concurrent allgathers of every port: port k < D is plain and reduces first in
/// dimension k, port D + k is its mirror image. shape.chunks is the number of ports; port k carries chunk k of every
/// shard on lane k. In an allreduce the blocks lie in the vector port by port and as `places` sorts them.
Program torus_collective(const Shape& shape, Rank rank, const Torus& torus, DimensionOrder order,
                         const RingAllgather& ring, const RingOrder& places);

/// Any collective but alltoall from an allgather of `steps` steps. `allgather` makes a rank's program for a shape;
/// given an origin it may leave out all blocks but that rank's, so that a rooted collective costs only what it moves.
using MakeAllgather = std::function<Program(const Shape& shape, std::optional<Rank> origin)>;
Program collective_from_allgather(const Shape& shape, Step steps, const MakeAllgather& allgather);

/// The row of the table of an algorithm that is a torus_collective.
Algorithm torus_algorithm(std::string_view name, std::string_view about, DimensionOrder order, RingAllgather ring,
                          RingStepCount count, RingOrder places);

}  // namespace colltopo
