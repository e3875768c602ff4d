// What bandwidth alone makes every schedule of a collective take.
//
// What must cross a cut is in a collective's row: alltoall moves |S| (P - |S|) shards each way, allgather every shard
// of one side to the other, and so on. Besides, where every shard goes from one rank to one other, the sum of distances
// over the sum of links is needed (Basu et al., Theorem 1's argument).
#include <fmt/format.h>

#include "colltopo/cost.h"

namespace colltopo {

namespace {

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

/// Over all shards that go from one host to another, of collectives that move each to one place.
double total_distance(const Shape& shape, const Topology& topology) {
  if (!rooted(shape.collective)) {
    const TopologyFacts facts = facts_of(topology);
    return facts.average_distance * facts.hosts * (facts.hosts - 1);
  }
  const bool from_root = row(shape.collective).input.holders == Holders::root;
  const std::vector<int> away = distances_from(topology, shape.root);
  double sum = 0;
  for (NodeId host = 0; host < topology.hosts(); ++host)
    sum += (from_root ? away : distances_from(topology, host))[static_cast<std::size_t>(from_root ? host : shape.root)];
  return sum;
}

}  // namespace

BandwidthBound bandwidth_bound(const Shape& shape, const Topology& topology) {
  const CollectiveRow& row = colltopo::row(shape.collective);
  Largest bound;
  for (const Cut& cut : narrow_cuts(topology)) {
    const bool root_inside = cut.inside[static_cast<std::size_t>(shape.root)];
    const NodeId outside = shape.ranks - cut.hosts_inside;
    bound.offer(row.leaving(cut.hosts_inside, outside, root_inside), cut.bandwidth_out,
                fmt::format("{} hosts send to {} others a load", cut.hosts_inside, outside));
    bound.offer(row.leaving(outside, cut.hosts_inside, !root_inside), cut.bandwidth_in,
                fmt::format("{} hosts send to {} others a load", outside, cut.hosts_inside));
  }
  if (!row.made_of_trees()) {
    double all_links = 0;
    for (const Link& link : topology.links()) all_links += link.bandwidth;
    bound.offer(total_distance(shape, topology), all_links, "all shards times their distances are a load");
  }
  if (row.out_of_hosts != nullptr) {
    double out_of_hosts = 0;
    for (const Link& link : topology.links())
      if (topology.is_host(link.tail)) out_of_hosts += link.bandwidth;
    bound.offer(row.out_of_hosts(shape.ranks), out_of_hosts, "combining and spreading the vector is a load");
  }
  return bound.take();
}

}  // namespace colltopo
