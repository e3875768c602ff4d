// Flows on links, as linear programmes give them, and the paths that they are made of.
//
// A linear programme with the inequalities (3), (8) of Basu et al. may leave more flow entering a node than leaves it,
// and a grouped flow may run in circles: both are removed before paths are taken off, from the targets back to the
// source (their 3.1.1).
#pragma once

#include <vector>

#include "colltopo/routing.h"

namespace colltopo::synthesis {

struct LinkAmount {
  LinkId link = 0;
  double amount = 0;

  friend bool operator==(const LinkAmount&, const LinkAmount&) = default;
};

/// What one host sends: one unit to one target (f of (1)-(5)), or one unit to every other host (f' of (6)-(9)).
struct LinkFlow {
  static constexpr NodeId k_everybody = -1;

  NodeId source = 0;
  NodeId target = k_everybody;
  std::vector<LinkAmount> links;  // sorted by link, amounts above 0

  /// Units that stay at a node.
  double demand(const Topology& topology, NodeId node) const {
    if (target == k_everybody) return topology.is_host(node) && node != source ? 1 : 0;
    return node == target ? 1 : 0;
  }

  friend bool operator==(const LinkFlow&, const LinkFlow&) = default;
};

/// Takes away what runs in circles: the links that are left form no cycle, and no amount grows.
void cancel_cycles(const Topology& topology, LinkFlow& flow);

/// Makes what enters every node what leaves it plus its demand: cancels cycles, then goes from the targets back to the
/// source and scales what enters a node. Where more entered than was needed amounts shrink. Throws Error naming a
/// target that nothing arrives at.
void restore_conservation(const Topology& topology, LinkFlow& flow);

/// A path and its share of the unit for `target`.
struct FlowPath {
  NodeId target = 0;
  double weight = 0;
  std::vector<LinkId> links;
};

/// MCF-extP (Basu et al., 3.2.1): again and again the widest path that is left, by Dijkstra's algorithm with the
/// narrowest link for a length. For the flow of a pair, whether it is conserved or not. The weights sum to 1.
std::vector<FlowPath> widest_paths(const Topology& topology, const LinkFlow& flow);

/// Paths to all targets of a flow that is conserved and free of cycles, sorted by target: from each target back to the
/// source along the largest amounts. The weights of a target sum to 1.
std::vector<FlowPath> strip_paths(const Topology& topology, const LinkFlow& flow);

/// The routing of one flow per source, or of one per pair, in the order of (source, target): conservation restored,
/// then stripped, or for pairs taken apart by widest paths.
Routing routing_of(const Topology& topology, std::vector<LinkFlow> flows);

}  // namespace colltopo::synthesis
