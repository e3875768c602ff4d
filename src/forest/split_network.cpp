// Edges as bundles of strands.
#include "forest/split_network.h"

#include <algorithm>

#include "base/index.h"

namespace colltopo {

namespace {

/// The same walk without going round in circles.
std::vector<LinkId> without_loops(const Topology& topology, const std::vector<LinkId>& links) {
  std::vector<LinkId> kept;
  for (const LinkId link : links) {
    const NodeId head = topology.link(link).head;
    kept.push_back(link);
    const auto left_before = std::ranges::find(kept, head, [&](LinkId l) { return topology.link(l).tail; });
    kept.erase(left_before, kept.end());
  }
  return kept;
}

}  // namespace

Capacity LogicalEdge::capacity() const {
  Capacity sum = 0;
  for (const RoutedAmount& route : routes) sum += route.amount;
  return sum;
}

SplitNetwork::SplitNetwork(const Topology& topology, const std::vector<Capacity>& of_link)
    : topology_(&topology), out_(index(topology.nodes())), in_(index(topology.nodes())) {
  for (std::size_t link = 0; link < of_link.size(); ++link) {
    if (of_link[link] == 0) continue;
    const auto [tail, head, bandwidth, latency] = topology.links()[link];
    Bundle& bundle = out_[index(tail)][head];
    bundle.capacity += of_link[link];
    bundle.strands.push_back({static_cast<std::int32_t>(paths_.size()), of_link[link]});
    in_[index(head)][tail] += of_link[link];
    paths_.push_back({static_cast<std::int32_t>(link), -1});
  }
}

std::vector<CapacityEdge> SplitNetwork::edges() const {
  std::vector<CapacityEdge> edges;
  for (NodeId node = 0; node < topology_->nodes(); ++node)
    for (const auto& [head, bundle] : out_[index(node)]) edges.push_back({node, head, bundle.capacity});
  return edges;
}

Capacity SplitNetwork::capacity(NodeId tail, NodeId head) const {
  const auto found = out_[index(tail)].find(head);
  return found == out_[index(tail)].end() ? 0 : found->second.capacity;
}

std::vector<CapacityEdge> SplitNetwork::edges_into(NodeId node) const {
  std::vector<CapacityEdge> edges;
  for (const auto& [tail, capacity] : in_[index(node)]) edges.push_back({tail, node, capacity});
  return edges;
}

std::vector<CapacityEdge> SplitNetwork::edges_out_of(NodeId node) const {
  std::vector<CapacityEdge> edges;
  for (const auto& [head, bundle] : out_[index(node)]) edges.push_back({node, head, bundle.capacity});
  return edges;
}

SplitNetwork::Strand SplitNetwork::take(NodeId tail, NodeId head, Capacity amount) {
  const auto found = out_[index(tail)].find(head);
  Bundle& bundle = found->second;
  Strand taken = bundle.strands.back();
  taken.amount = std::min(taken.amount, amount);
  bundle.strands.back().amount -= taken.amount;
  if (bundle.strands.back().amount == 0) bundle.strands.pop_back();
  bundle.capacity -= taken.amount;
  if (bundle.capacity == 0) out_[index(tail)].erase(found);
  if ((in_[index(head)][tail] -= taken.amount) == 0) in_[index(head)].erase(tail);
  return taken;
}

void SplitNetwork::split(NodeId relay, const Splitting& splitting) {
  const auto [from, to, amount] = splitting;
  for (Capacity left = amount; left > 0;) {
    const Strand first = take(from, relay, left);
    left -= first.amount;
    for (Capacity same = first.amount; same > 0;) {
      const Strand second = take(relay, to, same);
      same -= second.amount;
      if (from == to) continue;
      Bundle& bundle = out_[index(from)][to];
      bundle.capacity += second.amount;
      bundle.strands.push_back({static_cast<std::int32_t>(paths_.size()), second.amount});
      paths_.push_back({first.path, second.path});
      in_[index(to)][from] += second.amount;
    }
  }
}

void SplitNetwork::isolate(NodeId node) {
  for (const auto& [head, bundle] : out_[index(node)]) in_[index(head)].erase(node);
  for (const auto& [tail, capacity] : in_[index(node)]) out_[index(tail)].erase(node);
  out_[index(node)].clear();
  in_[index(node)].clear();
}

void SplitNetwork::append_links(std::int32_t path, std::vector<LinkId>& links) const {
  std::vector<std::int32_t> rest{path};
  while (!rest.empty()) {
    const Path& top = paths_[static_cast<std::size_t>(rest.back())];
    rest.pop_back();
    if (top.second < 0) {
      links.push_back(top.first);
    } else {
      rest.push_back(top.second);
      rest.push_back(top.first);
    }
  }
}

std::vector<LogicalEdge> SplitNetwork::logical_edges() const {
  std::vector<LogicalEdge> edges;
  for (NodeId tail = 0; tail < topology_->hosts(); ++tail) {
    for (const auto& [head, bundle] : out_[index(tail)]) {
      LogicalEdge edge{tail, head, {}};
      for (const Strand& strand : bundle.strands) {
        std::vector<LinkId> links;
        append_links(strand.path, links);
        edge.routes.push_back({without_loops(*topology_, links), strand.amount});
      }
      std::ranges::sort(edge.routes, {}, &RoutedAmount::links);
      std::vector<RoutedAmount> joined;
      for (RoutedAmount& route : edge.routes) {
        if (!joined.empty() && joined.back().links == route.links)
          joined.back().amount += route.amount;
        else
          joined.push_back(std::move(route));
      }
      edge.routes = std::move(joined);
      edges.push_back(std::move(edge));
    }
  }
  return edges;
}

}  // namespace colltopo
