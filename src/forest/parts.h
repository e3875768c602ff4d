// The parts of the construction that are one function each, in the order of their use: links get whole numbers of
// trees, switches are taken out, trees are packed and put back on links, and directions are turned round for what
// reduces.
#pragma once

#include <span>
#include <vector>

#include "colltopo/forest.h"
#include "forest/split_network.h"
#include "forest/units.h"

namespace colltopo {

/// Numbers of trees per root that are worth a try: all small ones, then in steps of a fifth.
std::vector<std::int64_t> tree_numbers(std::int64_t most);
inline constexpr std::int64_t k_few_trees = 9;

/// [link] floor(U times bandwidth), but never more than all trees.
std::vector<Capacity> trees_per_link(const std::string& name_for_errors, const Bandwidths& bandwidths,
                                     const Ratio& ratio, Capacity all_trees);

/// The least U with which trees of these roots ([host], with sum above 0) exist within floor(U times bandwidth) trees
/// per link (Algorithm 3).
Ratio least_capacity(const Topology& topology, const Bandwidths& bandwidths, std::span<const Capacity> roots,
                     int threads);

/// Edges between hosts in which trees of these roots exist, as they do in the topology with `of_link` trees per link
/// (asserted; Algorithm 4). They exist whenever no switch lets out more than comes in; otherwise they may not, and
/// Error names a node where both differ.
std::vector<LogicalEdge> without_switches(const Topology& topology, const std::vector<Capacity>& of_link,
                                          std::span<const Capacity> roots, int threads);

/// Throws Error when a schedule cannot have so many trees of each host.
void expect_chunks(const Topology& topology, std::int64_t trees);

/// Trees of these roots within the edges, in which they must exist, with their routes.
Packing packed_into(const Topology& topology, const std::vector<LogicalEdge>& edges, std::span<const Capacity> roots);

/// [link] one in the other direction, of the same two nodes and equal bandwidth; each is the twin of its twin. Empty
/// where some link has none.
std::vector<LinkId> twins(const Topology& topology);

/// Routes of trees of the transposed network become those of this one, from head to tail.
void turn_routes(Packing& packing);

}  // namespace colltopo
