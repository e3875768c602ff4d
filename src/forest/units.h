// Bandwidths as whole numbers, and arithmetic that does not overflow.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "colltopo/forest.h"
#include "forest/max_flow.h"

namespace colltopo {

__extension__ using Wide = __int128;

/// In lowest terms. Throws Error naming the topology when they do not fit.
Ratio ratio_of(const std::string& name_for_errors, Wide numerator, Wide denominator);
/// Whether a is the smaller.
bool is_less(const Ratio& a, const Ratio& b);

/// A topology's bandwidths in multiples of the largest unit that divides them all. They are rounded to whole bytes per
/// second; where a link has less than a million, to the tenth, hundredth ... part of one that leaves every link a
/// million or more, so that rounding changes no bandwidth by more than one part in two million.
struct Bandwidths {
  double unit = 1;                // bytes per second
  std::vector<Capacity> of_link;  // [link] units
};

/// What forest_optimum() asks of a topology; throws Error. The sum of all links fits into Capacity.
Bandwidths whole_bandwidths(const Topology& topology);

/// Throws Error for a root that is no host.
void expect_root(const Topology& topology, NodeId root);

/// Trees that cross each link of a topology, links between the same two nodes together, sorted by (tail, head). Links
/// of no trees are left out.
std::vector<CapacityEdge> joined_edges(const Topology& topology, const std::vector<Capacity>& of_link);

}  // namespace colltopo
