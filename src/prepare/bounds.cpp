#include "prepare/bounds.h"

#include <fmt/format.h>

#include "colltopo/allreduce_bound.h"
#include "colltopo/cost.h"
#include "colltopo/forest.h"
#include "prepare/offers.h"

namespace colltopo::prepare {

namespace {

CollectiveBound by_trees(const ForestOptimum& optimum, bool attained) {
  return {optimum.seconds_per_byte(), attained,
          fmt::format("the narrowest cut: {} of {} hosts inside", optimum.hosts_inside, optimum.hosts)};
}

}  // namespace

CollectiveBound bound_of(const Topology& network, const Shape& shape, const FlowBound& flow, int threads) {
  switch (shape.collective) {
    case Collective::alltoall:
      return {flow.time_lower / network.slowest_bandwidth(), true, "the largest flow between all pairs"};
    case Collective::allgather:
      return by_trees(forest_optimum(network, threads), is_attained(network));
    case Collective::bcast:
      return by_trees(bcast_optimum(network, shape.root, threads), is_attained(network));
    case Collective::reduce_scatter:
    case Collective::reduce: {
      const Topology turned = transposed(network);
      return by_trees(shape.collective == Collective::reduce ? bcast_optimum(turned, shape.root, threads)
                                                             : forest_optimum(turned, threads),
                      is_attained(turned));
    }
    case Collective::allreduce:
      if (network.switches() == 0 && allreduce_columns(network) <= k_most_columns)
        return {allreduce_bound(network).seconds_per_byte, true, "the best along trees"};
      break;
    default:
      break;
  }
  const BandwidthBound bound = bandwidth_bound(shape, network);
  return {bound.seconds_per_byte, false, bound.reason};
}

}  // namespace colltopo::prepare
