// What bandwidth alone makes every schedule of a collective take.
//
// Across a cut: alltoall moves |S| (P - |S|) shards each way; allgather every shard of one side to the other;
// reduce_scatter a partial result for every shard of the other side; allreduce, bcast and reduce the vector. Besides,
// alltoall needs the sum of distances over the sum of links (Basu et al., Theorem 1's argument), and allreduce 2 (P -
// 1) vectors in all, as many as messages in one-way gossip (each leaves a host).
#include <fmt/format.h>

#include "colltopo/cost.h"

namespace colltopo {

namespace {

/// What must leave a set with `inside` hosts, in units of the call's count.
double leaving(const Shape& shape, NodeId inside, bool root_inside) {
  const double here = inside;
  const double there = shape.ranks - inside;
  switch (shape.collective) {
    case Collective::alltoall:
      return here * there;
    case Collective::allgather:
      return here;
    case Collective::reduce_scatter:
      return there;
    case Collective::allreduce:
      return 1;
    case Collective::bcast:
      return root_inside ? 1 : 0;
    case Collective::reduce:
      return root_inside ? 0 : 1;
  }
  return 0;
}

class Largest {
 public:
  void offer(double amount, double bandwidth, const std::string& what) {
    if (amount <= 0 || amount / bandwidth <= bound_.seconds_per_byte) return;
    bound_ = {amount / bandwidth, fmt::format("{} of {:.6g} over {}", what, amount, bandwidth_text(bandwidth))};
  }
  BandwidthBound take() { return std::move(bound_); }

 private:
  BandwidthBound bound_;
};

double total_distance(const Topology& topology) {
  const TopologyFacts facts = facts_of(topology);
  return facts.average_distance * facts.hosts * (facts.hosts - 1);
}

}  // namespace

BandwidthBound bandwidth_bound(const Shape& shape, const Topology& topology) {
  Largest bound;
  for (const Cut& cut : narrow_cuts(topology)) {
    const bool root_inside = cut.inside[static_cast<std::size_t>(shape.root)];
    const NodeId outside = shape.ranks - cut.hosts_inside;
    bound.offer(leaving(shape, cut.hosts_inside, root_inside), cut.bandwidth_out,
                fmt::format("{} hosts send to {} others a load", cut.hosts_inside, outside));
    bound.offer(leaving(shape, outside, !root_inside), cut.bandwidth_in,
                fmt::format("{} hosts send to {} others a load", outside, cut.hosts_inside));
  }
  if (shape.collective == Collective::alltoall) {
    double all_links = 0;
    for (const Link& link : topology.links()) all_links += link.bandwidth;
    bound.offer(total_distance(topology), all_links, "all pairs times their distances are a load");
  }
  if (shape.collective == Collective::allreduce) {
    double out_of_hosts = 0;
    for (const Link& link : topology.links())
      if (topology.is_host(link.tail)) out_of_hosts += link.bandwidth;
    bound.offer(2.0 * (shape.ranks - 1), out_of_hosts, "combining and spreading the vector is a load");
  }
  return bound.take();
}

}  // namespace colltopo
