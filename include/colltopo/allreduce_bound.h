// The best allreduce along trees: what none can beat, and trees that come near.
//
// An allreduce adds every part of the vector up along a tree to some host and spreads it from there along another. Zhao
// et al. (ForestColl, appendix E) write the best of these as a linear programme (6): how much of the vector each host
// gets as root, and how every link's bandwidth is parted between both stages.
#pragma once

#include <cstddef>
#include <vector>

#include "colltopo/forest.h"
#include "colltopo/topology.h"

namespace colltopo {

struct AllreduceBound {
  double seconds_per_byte = 0;  // of the vector
  std::vector<double> shares;   // [host] of the vector that it is the root of; they sum to 1
  int rounds = 0;               // of solving the programme and adding the cuts that it violates
  std::size_t columns = 0, rows = 0;
};

/// Columns of the programme; those that allreduce_bound() refuses are more than k_most_allreduce_columns.
std::size_t allreduce_columns(const Topology& topology);
inline constexpr std::size_t k_most_allreduce_columns = 12'000;

/// Cuts are added as they are violated, until none is by more than one part in 10^9; what is found is a bound whatever
/// cuts were not needed. A round is a linear program of allreduce_columns() by Clp and two maximum flows per host.
/// Where there are switches, their bandwidth is parted among pairs of hosts, as the paper does.
/// Throws Error when the programme is too large, for a single host, and when hosts cannot reach each other.
AllreduceBound allreduce_bound(const Topology& topology);

/// The best reduce_scatter and then the best allgather where no allreduce along trees is faster by more than
/// k_loss_default, or the programme is too large; otherwise trees of the programme's solution, rounded to whole numbers
/// of trees, if they are faster. Without a number in the options (`trees`, `few`), numbers per host are tried up to
/// k_most_trees_default: first those that the solution's fractions divide, which lose nothing. Throws Error as
/// pack_forest() does, but for switches of unequal bandwidth in and out only where the programme is too large.
Forest pack_allreduce(const Topology& topology, ForestOptions options = {});

}  // namespace colltopo
