// Enumerating paths backwards from the target, under the distances from the source.
#include "synthesis/paths/path_sets.h"

#include <algorithm>

#include <fmt/format.h>

#include "colltopo/error.h"

namespace colltopo::synthesis {

namespace {

constexpr std::uint64_t k_countless = std::uint64_t{1} << 62;

/// All simple paths of exactly `links` links that end in a node, found by going backwards along links that keep the
/// source within reach.
class ExactLength {
 public:
  ExactLength(const Topology& topology, const PathsFrom& from, NodeId source, PathList& list, std::size_t most)
      : topology_(topology), from_(from), source_(source), list_(list), most_(most) {}

  void find(NodeId node, int links) {
    if (list_.capped) return;
    if (links == 0) {
      if (node == source_) found();
      return;
    }
    if (node == source_) return;
    visited_.push_back(node);
    for (const LinkId link : topology_.links_in(node)) {
      const NodeId tail = topology_.link(link).tail;
      const int hops = from_.hops(tail);
      if (hops < 0 || hops > links - 1 || std::find(visited_.begin(), visited_.end(), tail) != visited_.end()) continue;
      backwards_.push_back(link);
      find(tail, links - 1);
      backwards_.pop_back();
    }
    visited_.pop_back();
  }

 private:
  void found() {
    list_.capped = list_.paths.size() == most_;
    if (!list_.capped) list_.paths.emplace_back(backwards_.rbegin(), backwards_.rend());
  }

  const Topology& topology_;
  const PathsFrom& from_;
  const NodeId source_;
  PathList& list_;
  const std::size_t most_;
  std::vector<NodeId> visited_;
  std::vector<LinkId> backwards_;
};

}  // namespace

PathsFrom::PathsFrom(const Topology& topology, NodeId source)
    : topology_(topology),
      source_(source),
      nodes_(static_cast<std::size_t>(topology.nodes())),
      marks_(nodes_.size()),
      used_(topology.links().size(), false) {
  std::vector<NodeId> reached{source};
  reached.reserve(nodes_.size());
  nodes_[index(source)] = {0, 1};
  for (std::size_t next = 0; next < reached.size(); ++next) {
    const Node node = nodes_[index(reached[next])];
    for (const LinkId link : topology.links_out(reached[next])) {
      Node& head = nodes_[index(topology.link(link).head)];
      if (head.hops < 0) {
        head.hops = node.hops + 1;
        reached.push_back(topology.link(link).head);
      }
      if (head.hops == node.hops + 1) head.count = std::min(k_countless, head.count + node.count);
    }
  }
  for (NodeId host = 0; host < topology.hosts(); ++host)
    if (nodes_[index(host)].hops < 0)
      throw Error(fmt::format("{}: host {} cannot reach host {}; no all-to-all is possible", topology.name(),
                              topology.node_name(source), topology.node_name(host)));
}

// Successive shortest augmentation -----------------------------------------------------------------------------------

std::vector<Path> PathsFrom::disjoint(NodeId target) {
  if (target == source_) return {};
  const std::size_t most = std::min(topology_.links_out(source_).size(), topology_.links_in(target).size());
  std::size_t paths = 0;
  for (; paths < most && search(target, true); ++paths) augment(target);
  std::vector<Path> disjoint = take_apart(target);
  forget();
  return disjoint;
}

std::vector<Path> PathsFrom::disjoint_shortest_first(NodeId target) {
  std::vector<Path> paths;
  if (target == source_) return paths;
  const std::size_t most = std::min(topology_.links_out(source_).size(), topology_.links_in(target).size());
  while (paths.size() < most && search(target, false)) {
    Path& path = paths.emplace_back();
    for (NodeId node = source_; node != target; node = topology_.link(path.back()).head) {
      path.push_back(marks_[index(node)].next);
      used_[index(path.back())] = true;
      used_links_.push_back(path.back());
    }
  }
  forget();
  return paths;
}

/// Dijkstra from the target backwards through what the paths so far leave, until the source is reached. Reduced costs
/// are small whole numbers, so a list per distance serves as the queue.
bool PathsFrom::search(NodeId target, bool may_undo) {
  for (const NodeId node : seen_) {
    Mark& mark = marks_[index(node)];
    mark.distance = -1;
    mark.done = false;
  }
  seen_.clear();
  for (std::vector<NodeId>& list : at_) list.clear();

  if (at_.empty()) at_.emplace_back();
  marks_[index(target)].distance = 0;
  seen_.push_back(target);
  at_[0].push_back(target);
  for (std::size_t distance = 0; distance < at_.size(); ++distance)
    for (std::size_t next = 0; next < at_[distance].size(); ++next) {
      const NodeId node = at_[distance][next];
      Mark& mark = marks_[index(node)];
      if (mark.done || mark.distance != static_cast<int>(distance)) continue;
      mark.done = true;
      if (node == source_) return true;
      for (const LinkId link : topology_.links_in(node))
        if (!used_[index(link)]) relax(node, topology_.link(link).tail, 1, link, false);
      if (!may_undo) continue;
      for (const LinkId link : topology_.links_out(node))
        if (used_[index(link)]) relax(node, topology_.link(link).head, -1, link, true);
    }
  return false;
}

void PathsFrom::relax(NodeId node, NodeId tail, int cost, LinkId link, bool undoes) {
  if (hops(tail) < 0) return;
  const Mark& at = marks_[index(node)];
  Mark& mark = marks_[index(tail)];
  const int distance = at.distance + cost + hops(tail) + mark.raised - hops(node) - at.raised;
  if (mark.done || (mark.distance >= 0 && mark.distance <= distance)) return;
  if (mark.distance < 0) seen_.push_back(tail);
  mark.distance = distance;
  mark.next = link;
  mark.undoes = undoes;
  if (at_.size() <= static_cast<std::size_t>(distance)) at_.resize(static_cast<std::size_t>(distance) + 1);
  at_[static_cast<std::size_t>(distance)].push_back(tail);
}

void PathsFrom::augment(NodeId target) {
  const int distance = marks_[index(source_)].distance;
  for (const NodeId node : seen_) {
    Mark& mark = marks_[index(node)];
    if (!mark.done || mark.distance >= distance) continue;
    if (mark.raised == 0) raised_.push_back(node);
    mark.raised += distance - mark.distance;
  }
  for (NodeId node = source_; node != target;) {
    const Mark& mark = marks_[index(node)];
    used_[index(mark.next)] = !mark.undoes;
    if (!mark.undoes) used_links_.push_back(mark.next);
    node = mark.undoes ? topology_.link(mark.next).tail : topology_.link(mark.next).head;
  }
}

/// The links in use, as paths. They hold no cycle: it could be left out, and the total length is the least.
std::vector<Path> PathsFrom::take_apart(NodeId target) {
  std::vector<Path> paths;
  for (const LinkId first : topology_.links_out(source_)) {
    if (!used_[index(first)]) continue;
    Path path{first};
    used_[index(first)] = false;
    for (NodeId node = topology_.link(first).head; node != target; node = topology_.link(path.back()).head)
      for (const LinkId link : topology_.links_out(node)) {
        if (!used_[index(link)]) continue;
        used_[index(link)] = false;
        path.push_back(link);
        break;
      }
    paths.push_back(std::move(path));
  }
  std::stable_sort(paths.begin(), paths.end(), [](const Path& a, const Path& b) { return a.size() < b.size(); });
  return paths;
}

void PathsFrom::forget() {
  for (const NodeId node : seen_) marks_[index(node)] = {};
  for (const NodeId node : raised_) marks_[index(node)] = {};
  for (const LinkId link : used_links_) used_[index(link)] = false;
  seen_.clear();
  raised_.clear();
  used_links_.clear();
}

// Shortest and bounded -----------------------------------------------------------------------------------------------

Path PathsFrom::shortest_at(NodeId target, std::uint64_t rank) const {
  Path path;
  for (NodeId node = target; node != source_; node = topology_.link(path.back()).tail)
    for (const LinkId link : topology_.links_in(node)) {
      const Node& tail = nodes_[index(topology_.link(link).tail)];
      if (tail.hops < 0 || tail.hops != hops(node) - 1) continue;
      if (rank < tail.count) {
        path.push_back(link);
        break;
      }
      rank -= tail.count;
    }
  std::reverse(path.begin(), path.end());
  return path;
}

PathList PathsFrom::shortest(NodeId target, std::size_t most) const {
  if (target == source_) return {};
  const std::uint64_t count = shortest_count(target);
  const std::uint64_t taken = std::min<std::uint64_t>(count, most);
  PathList list;
  list.capped = taken < count;
  // The i-th of them has rank floor(i * count / taken), in whole numbers that stay below 2^64.
  for (std::uint64_t i = 0; i < taken; ++i)
    list.paths.push_back(shortest_at(target, i * (count / taken) + i * (count % taken) / taken));
  return list;
}

PathList PathsFrom::bounded(NodeId target, int most_links, std::size_t most) const {
  PathList list;
  if (target == source_) return list;
  ExactLength search(topology_, *this, source_, list, most);
  const int longest = std::min(most_links, static_cast<int>(topology_.nodes()) - 1);
  for (int links = hops(target); links <= longest && !list.capped; ++links) search.find(target, links);
  return list;
}

std::vector<Path> disjoint_paths(const Topology& topology, NodeId source, NodeId target) {
  return PathsFrom(topology, source).disjoint(target);
}

PathList shortest_paths(const Topology& topology, NodeId source, NodeId target, std::size_t most) {
  return PathsFrom(topology, source).shortest(target, most);
}

PathList bounded_paths(const Topology& topology, NodeId source, NodeId target, int most_links, std::size_t most) {
  return PathsFrom(topology, source).bounded(target, most_links, most);
}

}  // namespace colltopo::synthesis
