// Trees of paths, what they send to whom, and the whole schedule out of them.
#include "colltopo/symmetric.h"
#include "base/index.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "colltopo/error.h"
#include "routing/path_tree.h"
#include "topology/link_images.h"

namespace colltopo {

namespace {

/// A tree while paths are put into it: children in the order in which they came.
class GrowingTree {
 public:
  void add(std::span<const LinkId> links, Chunk chunks) {
    std::int32_t at = 0;
    for (const LinkId link : links) at = child(at, link);
    nodes_[index(at)].chunks += chunks;
  }

  /// Numbered anew, depth first.
  PathTree numbered() const {
    PathTree tree;
    tree.nodes.clear();
    std::vector<std::pair<std::int32_t, std::int32_t>> waiting{{0, 0}};  // node, and the new number of that before
    while (!waiting.empty()) {
      const auto [node, from] = waiting.back();
      waiting.pop_back();
      const Grown& grown = nodes_[index(node)];
      const auto number = static_cast<std::int32_t>(tree.nodes.size());
      tree.nodes.push_back({from, grown.link, grown.chunks, 0});
      const std::size_t begin = waiting.size();
      for (std::int32_t next = grown.first_child; next >= 0; next = nodes_[index(next)].next)
        waiting.emplace_back(next, number);
      std::reverse(waiting.begin() + static_cast<std::ptrdiff_t>(begin), waiting.end());
    }
    return tree;
  }

 private:
  struct Grown {
    LinkId link = 0;
    Chunk chunks = 0;
    std::int32_t first_child = -1, last_child = -1, next = -1;
  };

  std::int32_t child(std::int32_t at, LinkId link) {
    for (std::int32_t next = nodes_[index(at)].first_child; next >= 0; next = nodes_[index(next)].next)
      if (nodes_[index(next)].link == link) return next;
    const auto made = static_cast<std::int32_t>(nodes_.size());
    Grown& parent = nodes_[index(at)];
    if (parent.first_child < 0) parent.first_child = made;
    if (parent.last_child >= 0) nodes_[index(parent.last_child)].next = made;
    nodes_[index(at)].last_child = made;
    nodes_.push_back({link});
    return made;
  }

  std::vector<Grown> nodes_{{}};
};

/// Calls visit(node, target) for every path of the tree, in order.
template <class Visit>
void for_each_path(const Topology& topology, const PathTree& tree, const Visit& visit) {
  for (std::size_t node = 1; node < tree.nodes.size(); ++node)
    if (tree.nodes[node].chunks > 0) visit(static_cast<std::int32_t>(node), topology.link(tree.nodes[node].link).head);
}

}  // namespace

PathTree path_tree(const Routing& routing, NodeId source, Chunk chunks) {
  GrowingTree tree;
  for (std::size_t i = 0; i < routing.paths(); ++i)
    if (const WeightedPath path = routing.path(i); path.source == source)
      tree.add(path.links, static_cast<Chunk>(std::lround(path.weight * chunks)));
  return tree.numbered();
}

std::vector<LinkId> path_of(const PathTree& tree, std::int32_t node) {
  std::vector<LinkId> links;
  for (; node > 0; node = tree.nodes[index(node)].from) links.push_back(tree.nodes[index(node)].link);
  std::ranges::reverse(links);
  return links;
}

std::vector<Split> splits_of(const Topology& topology, Rank representative, const PathTree& tree) {
  std::vector<std::vector<Chunk>> lanes(index(topology.hosts()));
  for_each_path(topology, tree, [&](std::int32_t node, NodeId target) {
    if (!topology.is_host(target) || target == representative)
      throw Error(fmt::format("a path from {} ends at {}, expected another host", topology.node_name(representative),
                              topology.node_name(target)));
    lanes[index(target)].push_back(tree.nodes[index(node)].chunks);
  });
  std::vector<Split> splits;
  for (Rank target = 0; target < topology.hosts(); ++target) {
    if (target == representative) continue;
    if (lanes[index(target)].empty())
      throw Error(fmt::format("no path from {} to {}, expected one or more", topology.node_name(representative),
                              topology.node_name(target)));
    const bool next = !splits.empty() && splits.back().first + splits.back().count == target;
    if (next && splits.back().lanes == lanes[index(target)])
      ++splits.back().count;
    else
      splits.push_back({target, 1, std::move(lanes[index(target)])});
  }
  return splits;
}

std::vector<Route> routes_from(const SymmetricSchedule& schedule, const Topology& topology, Rank rank) {
  const std::int32_t element = schedule.symmetry.element_of(rank);
  const PathTree& tree = schedule.paths[index(schedule.symmetry.orbit_of(rank))];
  const std::vector<NodeId> moved = schedule.symmetry.moved_by(element);
  std::string fault;
  const std::vector<LinkId> images = link_images(topology, moved, &fault);
  if (!fault.empty())
    throw Error(fmt::format("{}: element {} of its group is no automorphism of {}: {}", schedule.name, element,
                            topology.name(), fault));
  std::vector<Lane> lanes(index(topology.hosts()), 0);
  std::vector<Route> routes;
  for_each_path(topology, tree, [&](std::int32_t node, NodeId target) {
    Route route{rank, moved[index(target)], lanes[index(target)]++, tree.nodes[index(node)].layer, path_of(tree, node)};
    for (LinkId& link : route.links) link = images[index(link)];
    routes.push_back(std::move(route));
  });
  std::ranges::sort(routes, {}, [](const Route& route) { return std::pair(route.target, route.lane); });
  return routes;
}

Schedule expanded(const SymmetricSchedule& schedule, const Topology& topology) {
  if (schedule.shape.ranks != topology.hosts())
    throw Error(fmt::format("{}: {} ranks; {} has {} hosts", schedule.name, schedule.shape.ranks, topology.name(),
                            topology.hosts()));
  Schedule whole = schedule_of(schedule.name, schedule.shape, [&](Rank rank) {
    return symmetric_program(schedule.shape, schedule.symmetry, schedule.splits, rank);
  });
  for (Rank rank = 0; rank < schedule.shape.ranks; ++rank)
    for (Route& route : routes_from(schedule, topology, rank)) whole.routes.push_back(std::move(route));
  whole.topology = schedule.topology;
  whole.topology_name = schedule.topology_name;
  whole.bound = schedule.bound;
  whole.proof = schedule.proof;
  return whole;
}

}  // namespace colltopo
