// Paths from one host as a tree, and back.
#pragma once

#include <cstdint>
#include <vector>

#include "colltopo/routing.h"
#include "colltopo/symmetric.h"

namespace colltopo {

/// The tree of a host's paths in whole chunks: paths that begin alike share what they begin with. A path's weight times
/// `chunks` must be whole. Nodes are numbered depth first, so that chains of links have numbers that follow each other.
PathTree path_tree(const Routing& routing, NodeId source, Chunk chunks);

/// A node's path, link by link from the host.
std::vector<LinkId> path_of(const PathTree& tree, std::int32_t node);

}  // namespace colltopo
