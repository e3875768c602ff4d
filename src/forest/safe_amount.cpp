// Splitting off takes from cuts that have both neighbours on one side and the switch on the other. Such a cut needs the
// trees of all hosts to leave it together with the source, when a host lies beyond; what it has above that is spare.
#include "forest/safe_amount.h"

#include <algorithm>
#include <numeric>

namespace colltopo {

SafeAmounts::SafeAmounts(const SplitNetwork& network, NodeId relay, std::span<const Capacity> roots)
    : hosts_(network.topology().hosts()),
      nodes_(network.topology().nodes()),
      relay_(relay),
      source_(nodes_),
      sink_(nodes_ + 1),
      needed_(std::accumulate(roots.begin(), roots.end(), Capacity{0})),
      edges_(network.edges()),
      network_(0, {}) {
  for (const CapacityEdge& in : network.edges_into(relay))
    for (const CapacityEdge& out : network.edges_out_of(relay))
      if (in.tail != out.head && network.capacity(in.tail, out.head) == 0) edges_.push_back({in.tail, out.head, 0});
  for (std::size_t edge = 0; edge < edges_.size(); ++edge) edge_of_[{edges_[edge].tail, edges_[edge].head}] = edge;
  for (NodeId node = 0; node < nodes_; ++node) {
    from_source_.push_back(edges_.size());
    edges_.push_back({source_, node, node < hosts_ ? roots[static_cast<std::size_t>(node)] : 0});
    to_sink_.push_back(edges_.size());
    edges_.push_back({node, sink_, 0});
  }
  network_ = MaxFlow(nodes_ + 2, edges_);
}

Capacity SafeAmounts::capacity(NodeId tail, NodeId head) const {
  const auto found = edge_of_.find({tail, head});
  return found == edge_of_.end() ? 0 : edges_[found->second].capacity;
}

void SafeAmounts::change(NodeId tail, NodeId head, Capacity by) {
  const std::size_t edge = edge_of_.at({tail, head});
  edges_[edge].capacity += by;
  network_.set_capacity(edge, edges_[edge].capacity);
}

void SafeAmounts::split(const Splitting& splitting) {
  change(splitting.from, relay_, -splitting.amount);
  change(relay_, splitting.to, -splitting.amount);
  if (splitting.from != splitting.to) change(splitting.from, splitting.to, splitting.amount);
}

Capacity SafeAmounts::spare(std::vector<NodeId> with_source, std::vector<NodeId> with_sink, Capacity most) {
  const auto glue = [&](Capacity capacity) {
    for (const NodeId node : with_source)
      network_.set_capacity(from_source_[static_cast<std::size_t>(node)],
                            capacity > 0 ? capacity : edges_[from_source_[static_cast<std::size_t>(node)]].capacity);
    for (const NodeId node : with_sink) network_.set_capacity(to_sink_[static_cast<std::size_t>(node)], capacity);
  };
  glue(needed_ + most);  // as good as no limit
  network_.clear();
  const Capacity flow = network_.push(source_, sink_, needed_ + most);
  glue(0);
  return std::max<Capacity>(flow - needed_, 0);
}

Capacity SafeAmounts::amount(NodeId from, NodeId to, Capacity most) {
  most = std::min({most, capacity(from, relay_), capacity(relay_, to)});
  const auto is_host = [&](NodeId node) { return node < hosts_; };
  // The switch on the source's side, both neighbours beyond: with a host among them there is one beyond.
  if (is_host(from) || is_host(to)) {
    if (most > 0) most = std::min(most, spare({relay_}, {from, to}, most));
  } else {
    for (NodeId host = 0; host < hosts_ && most > 0; ++host)
      most = std::min(most, spare({relay_}, {from, to, host}, most));
  }
  // The switch beyond.
  for (NodeId host = 0; host < hosts_ && most > 0; ++host)
    if (host != from && host != to) most = std::min(most, spare({from, to}, {relay_, host}, most));
  return most;
}

}  // namespace colltopo
