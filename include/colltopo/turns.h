// Symmetries that a network's numbering shows: turns of digits of the hosts' numbers.
#pragma once

#include "colltopo/symmetry.h"
#include "colltopo/topology.h"

namespace colltopo {

/// The largest group of automorphisms, acting freely on the hosts, that turns of digits generate: when the hosts are
/// written with digits of any mixed radix, the turns of those digits that are automorphisms. All hosts of rings, tori,
/// hypercubes, HyperX, complete and circulant graphs and fat trees are one orbit of it; hosts of dragonflies one per
/// place in a group, boards of HammingMesh one per place on a board. Only the identity where there is none.
///
/// Time O(divisors^2 * links) at worst; turns that fail do so at the first few links.
Symmetry turns_of(const Topology& topology);

}  // namespace colltopo
