// Where the links go when nodes are moved.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "colltopo/symmetry.h"
#include "colltopo/topology.h"

namespace colltopo {

/// [link] where it goes when every node goes to `image`[node]: the link between the images of its ends, of the same
/// bandwidth; of parallel ones the first goes to the first. Empty, with *fault saying why, when some link has none: the
/// permutation is no automorphism. Time O(links).
std::vector<LinkId> link_images(const Topology& topology, const std::vector<NodeId>& image, std::string* fault);

/// [link] number of its orbit under the group, by first members from 0. Throws Error when a generator is no
/// automorphism.
std::vector<std::int32_t> link_orbits(const Topology& topology, const Symmetry& symmetry);

}  // namespace colltopo
