// Symmetries that a network's numbering shows, turns of digits of the hosts' numbers, or that its family has.
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

/// The larger of that group and of the one known of the family that the network's name names, which is proved on its
/// links before it is used: Kautz graphs of d^D + d^(D-1) hosts, where d + 1 is a power of a prime, have orbits of
/// d (d + 1) hosts; Slim Flies have two, which no free group surpasses (McKay, Miller, Siran 1998: they are no Cayley
/// graphs).
Symmetry symmetry_of(const Topology& topology);

}  // namespace colltopo
