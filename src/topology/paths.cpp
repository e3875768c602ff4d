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

/// Calls found(link) for the link by which each node is reached first, nearest nodes first; `backwards`: against links.
template <typename Found>
void search(const Topology& topology, NodeId start, bool backwards, const Found& found) {
  std::vector<bool> seen(static_cast<std::size_t>(topology.nodes()), false);
  std::vector<NodeId> reached{start};
  reached.reserve(seen.size());
  seen[static_cast<std::size_t>(start)] = true;
  for (std::size_t next = 0; next < reached.size() && reached.size() < seen.size(); ++next) {
    for (const LinkId id : backwards ? topology.links_in(reached[next]) : topology.links_out(reached[next])) {
      const NodeId end = backwards ? topology.link(id).tail : topology.link(id).head;
      if (seen[static_cast<std::size_t>(end)]) continue;
      seen[static_cast<std::size_t>(end)] = true;
      reached.push_back(end);
      found(id);
    }
  }
}

/// Hops from `start`, or `backwards` to it; -1: unreachable.
std::vector<int> distances(const Topology& topology, NodeId start, bool backwards) {
  std::vector<int> hops(static_cast<std::size_t>(topology.nodes()), -1);
  hops[static_cast<std::size_t>(start)] = 0;
  search(topology, start, backwards, [&](LinkId id) {
    const Link& link = topology.link(id);
    const auto [near, far] = backwards ? std::pair(link.head, link.tail) : std::pair(link.tail, link.head);
    hops[static_cast<std::size_t>(far)] = hops[static_cast<std::size_t>(near)] + 1;
  });
  return hops;
}

// As netlab's routers have it: the CRC-32 of "node>target".
std::size_t hash_of(NodeId node, NodeId target) {
  const std::string text = fmt::format("{}>{}", node, target);
  return crc32(0, reinterpret_cast<const Bytef*>(text.data()), static_cast<uInt>(text.size()));
}

/// [node] the link that it takes towards the target; k_no_link: none leads there.
std::vector<LinkId> links_towards(const Topology& topology, NodeId target, SinglePaths paths) {
  const std::vector<int> hops = distances(topology, target, true);
  const auto hops_of = [&](NodeId node) { return hops[static_cast<std::size_t>(node)]; };
  std::vector<LinkId> towards(hops.size(), k_no_link), nearer;
  for (NodeId node = 0; node < topology.nodes(); ++node) {
    if (hops_of(node) <= 0) continue;
    nearer.clear();
    for (const LinkId id : topology.links_out(node))
      if (hops_of(topology.link(id).head) == hops_of(node) - 1) nearer.push_back(id);
    const std::size_t place = paths == SinglePaths::hashed ? hash_of(node, target) % nearer.size() : 0;
    towards[static_cast<std::size_t>(node)] = nearer[place];
  }
  return towards;
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

std::vector<int> distances_from(const Topology& topology, NodeId source) { return distances(topology, source, false); }

ShortestPaths::ShortestPaths(const Topology& topology, SinglePaths paths)
    : topology_(topology), paths_(paths), known_(static_cast<std::size_t>(topology.nodes())) {}

std::vector<LinkId> ShortestPaths::path(NodeId source, NodeId target) const {
  if (source == target) return {};
  if (paths_ != SinglePaths::unknown) return by_nodes(source, target);
  if (!topology_.sides().empty()) return along_grid(source, target);

  std::vector<LinkId>& arriving_by = known_[static_cast<std::size_t>(source)];
  if (arriving_by.empty()) {
    arriving_by.assign(static_cast<std::size_t>(topology_.nodes()), k_no_link);
    search(topology_, source, false,
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
  std::vector<LinkId>& towards = known_[static_cast<std::size_t>(target)];
  if (towards.empty()) towards = links_towards(topology_, target, paths_);
  std::vector<LinkId> path;
  for (NodeId node = source; node != target; node = topology_.link(path.back()).head) {
    if (towards[static_cast<std::size_t>(node)] == k_no_link) refuse(source, target);
    path.push_back(towards[static_cast<std::size_t>(node)]);
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
