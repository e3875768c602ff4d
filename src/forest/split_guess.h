// A whole split of a switch at a guess: everything that enters it spread evenly over where it can go.
//
// Exact splitting asks for many flows per pair of ports; a guess needs only one round of them to be proved right, and
// on machines of equal boxes one of two is: over all other ports, or over those that are no neighbours without the
// switch (the network cards of other boxes).
#pragma once

#include <vector>

#include "forest/split_network.h"

namespace colltopo {

enum class Spread : std::uint8_t { other_ports, other_parts };

/// All that enters `relay` is spread over what leaves it, as far as there is as much; from == to only where nothing
/// else is left. `part_of`: [node] nodes of one part are joined without the relay and its like.
std::vector<Splitting> spread(const SplitNetwork& network, NodeId relay, Spread over,
                              const std::vector<NodeId>& part_of);

/// [node] its part in the network without `relays`: the lowest node of its connected component.
std::vector<NodeId> parts_without(const SplitNetwork& network, const std::vector<NodeId>& relays);

}  // namespace colltopo
