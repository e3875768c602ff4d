// Breadth-first search, and the shortest paths that a network takes when nobody tells it otherwise.
#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>
#include <zlib.h>

#include "colltopo/error.h"
#include "colltopo/topology.h"

namespace colltopo {

namespace {

constexpr LinkId k_no_link = -1;

/// Calls found(link) for the link by which each node is reached first, nearest nodes first.
template <typename Found>
void search_from(const Topology& topology, NodeId source, const Found& found) {
  std::vector<bool> seen(static_cast<std::size_t>(topology.nodes()), false);
  std::vector<NodeId> reached{source};
  reached.reserve(seen.size());
  seen[static_cast<std::size_t>(source)] = true;
  for (std::size_t next = 0; next < reached.size() && reached.size() < seen.size(); ++next) {
    for (const LinkId id : topology.links_out(reached[next])) {
      const NodeId head = topology.link(id).head;
      if (seen[static_cast<std::size_t>(head)]) continue;
      seen[static_cast<std::size_t>(head)] = true;
      reached.push_back(head);
      found(id);
    }
  }
}

// Backwards: to all nodes that reach it; -1 of others.
std::vector<std::int32_t> distances_to(const Topology& topology, NodeId target) {
  std::vector<std::int32_t> hops(static_cast<std::size_t>(topology.nodes()), -1);
  std::vector<NodeId> reached{target};
  hops[static_cast<std::size_t>(target)] = 0;
  for (std::size_t next = 0; next < reached.size(); ++next) {
    for (const LinkId id : topology.links_in(reached[next])) {
      const NodeId tail = topology.link(id).tail;
      if (hops[static_cast<std::size_t>(tail)] >= 0) continue;
      hops[static_cast<std::size_t>(tail)] = hops[static_cast<std::size_t>(reached[next])] + 1;
      reached.push_back(tail);
    }
  }
  return hops;
}

// As netlab's routers have it: the CRC-32 of "node>target".
std::size_t hash_of(NodeId node, NodeId target) {
  const std::string text = fmt::format("{}>{}", node, target);
  return crc32(0, reinterpret_cast<const Bytef*>(text.data()), static_cast<uInt>(text.size()));
}

}  // namespace

std::optional<SinglePaths> single_paths_named(std::string_view text) {
  for (const SinglePaths paths : {SinglePaths::lowest, SinglePaths::hashed})
    if (text == name(paths)) return paths;
  return std::nullopt;
}

std::string_view name(SinglePaths paths) {
  return paths == SinglePaths::lowest ? "lowest" : paths == SinglePaths::hashed ? "hash" : "";
}

std::vector<int> distances_from(const Topology& topology, NodeId source) {
  std::vector<int> distances(static_cast<std::size_t>(topology.nodes()), -1);
  distances[static_cast<std::size_t>(source)] = 0;
  search_from(topology, source, [&](LinkId id) {
    const Link& link = topology.link(id);
    distances[static_cast<std::size_t>(link.head)] = distances[static_cast<std::size_t>(link.tail)] + 1;
  });
  return distances;
}

ShortestPaths::ShortestPaths(const Topology& topology, SinglePaths paths)
    : topology_(topology), paths_(paths), known_(static_cast<std::size_t>(topology.nodes())) {}

std::vector<LinkId> ShortestPaths::path(NodeId source, NodeId target) const {
  if (source == target) return {};
  if (paths_ != SinglePaths::unknown) return by_nodes(source, target);
  if (!topology_.sides().empty()) return along_grid(source, target);

  std::vector<LinkId>& arriving_by = known_[static_cast<std::size_t>(source)];
  if (arriving_by.empty()) {
    arriving_by.assign(static_cast<std::size_t>(topology_.nodes()), k_no_link);
    search_from(topology_, source,
                [&](LinkId id) { arriving_by[static_cast<std::size_t>(topology_.link(id).head)] = id; });
  }
  std::vector<LinkId> path;
  for (NodeId node = target; node != source; node = topology_.link(path.back()).tail) {
    path.push_back(arriving_by[static_cast<std::size_t>(node)]);
    if (path.back() == k_no_link) refuse(source, target);
  }
  std::reverse(path.begin(), path.end());
  return path;
}

std::vector<LinkId> ShortestPaths::by_nodes(NodeId source, NodeId target) const {
  std::vector<std::int32_t>& hops = known_[static_cast<std::size_t>(target)];
  if (hops.empty()) hops = distances_to(topology_, target);
  const auto hops_of = [&](NodeId node) { return hops[static_cast<std::size_t>(node)]; };
  if (hops_of(source) < 0) refuse(source, target);
  std::vector<LinkId> path, nearer;
  for (NodeId node = source; node != target; node = topology_.link(path.back()).head) {
    nearer.clear();
    for (const LinkId id : topology_.links_out(node))
      if (hops_of(topology_.link(id).head) == hops_of(node) - 1) nearer.push_back(id);
    const std::size_t place = paths_ == SinglePaths::hashed ? hash_of(node, target) % nearer.size() : 0;
    path.push_back(nearer[place]);
  }
  return path;
}

void ShortestPaths::refuse(NodeId source, NodeId target) const {
  throw Error(fmt::format("{}: no path from {} to {}; every host must reach every other", topology_.name(),
                          topology_.node_name(source), topology_.node_name(target)));
}

std::vector<LinkId> ShortestPaths::along_grid(NodeId source, NodeId target) const {
  std::vector<LinkId> path;
  NodeId node = source;
  NodeId stride = topology_.hosts();
  for (const int side : topology_.sides()) {
    stride /= side;
    int at = node / stride % side;
    const int to = target / stride % side;
    const int up = (to - at + side) % side;  // hops when only going upwards
    int hops = std::abs(to - at);
    int direction = to > at ? 1 : -1;
    if (topology_.wraps()) {
      hops = std::min(up, side - up);
      direction = up < side - up || (up == side - up && at % 2 == 0) ? 1 : -1;
    }
    for (; hops > 0; --hops) {
      const int next = (at + direction + side) % side;
      const NodeId neighbour = node + (next - at) * stride;
      path.push_back(link_between(node, neighbour));
      node = neighbour;
      at = next;
    }
  }
  return path;
}

LinkId ShortestPaths::link_between(NodeId tail, NodeId head) const {
  for (const LinkId id : topology_.links_out(tail))
    if (topology_.link(id).head == head) return id;
  throw Error(fmt::format("{}: grid neighbours {} and {} have no link; a topology with sides has one between all",
                          topology_.name(), topology_.node_name(tail), topology_.node_name(head)));
}

}  // namespace colltopo
