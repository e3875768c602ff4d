// A routing of one network on another: what still holds is kept.
#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>

#include "colltopo/routing.h"

namespace colltopo {

namespace {

/// [node of `before`] the node of the same name and kind in `after`; -1: none.
std::vector<NodeId> nodes_by_name(const Topology& before, const Topology& after) {
  std::unordered_map<std::string_view, NodeId> named;
  for (NodeId node = 0; node < after.nodes(); ++node) named.emplace(after.node_name(node), node);
  std::vector<NodeId> nodes;
  for (NodeId node = 0; node < before.nodes(); ++node) {
    const auto found = named.find(before.node_name(node));
    const bool same = found != named.end() && before.is_host(node) == after.is_host(found->second);
    nodes.push_back(same ? found->second : -1);
  }
  return nodes;
}

/// [link of `before`] a link between the same nodes in `after`; -1: none. Parallel links are matched in their order.
std::vector<LinkId> links_by_ends(const Topology& before, const Topology& after, const std::vector<NodeId>& nodes) {
  std::map<std::pair<NodeId, NodeId>, std::size_t> parallel;  // how many of `before` came already
  std::vector<LinkId> links;
  for (const Link& link : before.links()) {
    const NodeId tail = nodes[static_cast<std::size_t>(link.tail)], head = nodes[static_cast<std::size_t>(link.head)];
    std::vector<LinkId> same;
    for (const LinkId id : tail < 0 ? std::span<const LinkId>() : after.links_out(tail))
      if (after.link(id).head == head) same.push_back(id);
    const std::size_t place = parallel[{link.tail, link.head}]++;
    links.push_back(same.empty() ? -1 : same[place % same.size()]);
  }
  return links;
}

}  // namespace

std::vector<double> carried_over(const Topology& before, std::span<const double> lengths, const Topology& after) {
  const std::vector<LinkId> links = links_by_ends(before, after, nodes_by_name(before, after));
  std::vector<double> result(after.links().size(), 0);
  for (std::size_t link = 0; link < links.size(); ++link)
    if (links[link] >= 0) result[static_cast<std::size_t>(links[link])] = lengths[link];
  return result;
}

Routing carried_over(const Topology& before, const Routing& routing, const Topology& after) {
  const std::vector<NodeId> nodes = nodes_by_name(before, after);
  const std::vector<LinkId> links = links_by_ends(before, after, nodes);
  const auto is_whole = [&](const WeightedPath& path) {
    return nodes[static_cast<std::size_t>(path.source)] >= 0 && nodes[static_cast<std::size_t>(path.target)] >= 0 &&
           std::ranges::all_of(path.links, [&](LinkId link) { return links[static_cast<std::size_t>(link)] >= 0; });
  };
  struct Kept {
    NodeId source, target;
    std::size_t path;
  };
  std::vector<Kept> kept;
  for (std::size_t i = 0; i < routing.paths(); ++i)
    if (const WeightedPath path = routing.path(i); is_whole(path))
      kept.push_back({nodes[static_cast<std::size_t>(path.source)], nodes[static_cast<std::size_t>(path.target)], i});
  std::stable_sort(kept.begin(), kept.end(), [](const Kept& a, const Kept& b) {
    return std::pair(a.source, a.target) < std::pair(b.source, b.target);
  });

  const ShortestPaths shortest(after, SinglePaths::unknown);
  Routing result(after.hosts());
  result.reserve(routing.paths(), routing.links());
  std::vector<LinkId> path_links;
  auto next = kept.begin();
  for (NodeId source = 0; source < after.hosts(); ++source)
    for (NodeId target = 0; target < after.hosts(); ++target) {
      if (source == target) continue;
      const auto end =
          std::find_if(next, kept.end(), [&](const Kept& k) { return k.source != source || k.target != target; });
      const double sum = std::accumulate(
          next, end, 0.0, [&](double total, const Kept& k) { return total + routing.path(k.path).weight; });
      if (!(sum > 0)) result.add(source, target, 1, shortest.path(source, target));
      for (; next != end; ++next) {
        const WeightedPath path = routing.path(next->path);
        path_links.clear();
        for (const LinkId link : path.links) path_links.push_back(links[static_cast<std::size_t>(link)]);
        if (sum > 0) result.add(source, target, path.weight / sum, path_links);
      }
    }
  return result;
}

}  // namespace colltopo
