// Spanning trees with machines as leaves and switches inside (Faraj et al., sections 3 and 5).
//
// A tree is found in three parts: cables that join everything, pruning of switches that lead nowhere, and the numbering
// of what is left by a depth-first walk. Nothing recurses: trees of depth-first searches are as tall as they are large.
#include <algorithm>
#include <numeric>
#include <random>
#include <tuple>

#include <fmt/format.h>

#include "colltopo/error.h"
#include "colltopo/rings.h"

namespace colltopo {

namespace {

struct Cable {
  NodeId low = 0, high = 0;
  LinkId upwards = -1;    // from low to high
  LinkId downwards = -1;  // from high to low
};

struct Neighbour {
  NodeId node = 0;
  std::size_t cable = 0;
};

using Neighbours = std::vector<std::vector<Neighbour>>;  // [node], sorted

/// Pairs of nodes with links both ways, sorted; of parallel links the first.
std::vector<Cable> cables_of(const Topology& topology) {
  std::vector<std::tuple<NodeId, NodeId, bool, LinkId>> links;
  for (LinkId id = 0; id < static_cast<LinkId>(topology.links().size()); ++id) {
    const Link& link = topology.link(id);
    links.emplace_back(std::min(link.tail, link.head), std::max(link.tail, link.head), link.tail > link.head, id);
  }
  std::sort(links.begin(), links.end());
  std::vector<Cable> cables;
  for (const auto& [low, high, is_downwards, link] : links) {
    if (cables.empty() || cables.back().low != low || cables.back().high != high) cables.push_back({low, high});
    LinkId& place = is_downwards ? cables.back().downwards : cables.back().upwards;
    if (place < 0) place = link;
  }
  std::erase_if(cables, [](const Cable& cable) { return cable.upwards < 0 || cable.downwards < 0; });
  return cables;
}

Neighbours neighbours_of(NodeId nodes, const std::vector<Cable>& cables, const std::vector<std::size_t>& chosen) {
  Neighbours neighbours(static_cast<std::size_t>(nodes));
  for (const std::size_t cable : chosen) {
    neighbours[static_cast<std::size_t>(cables[cable].low)].push_back({cables[cable].high, cable});
    neighbours[static_cast<std::size_t>(cables[cable].high)].push_back({cables[cable].low, cable});
  }
  for (auto& list : neighbours)
    std::sort(list.begin(), list.end(), [](const Neighbour& a, const Neighbour& b) { return a.node < b.node; });
  return neighbours;
}

// The library's distributions differ from one implementation to another.
std::size_t below(std::mt19937_64& random, std::size_t limit) { return static_cast<std::size_t>(random() % limit); }

/// Grows a tree over the nodes that may forward.
class Search {
 public:
  Search(const Topology& topology, TreeSearch search, std::uint64_t seed)
      : topology_(topology), search_(search), random_(seed), cables_(cables_of(topology)) {
    std::vector<std::size_t> all(cables_.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    neighbours_ = neighbours_of(topology.nodes(), cables_, all);
  }

  /// Cables of the tree.
  std::vector<std::size_t> run() {
    forwards_ = switches_that_reach_all_hosts();
    const bool hosts_are_leaves = !forwards_.empty();
    if (!hosts_are_leaves) forwards_ = joined_to_first_host();
    root_ = forwards_[below(random_, forwards_.size())];
    std::vector<std::size_t> tree = search_ == TreeSearch::breadth_first ? breadth_first()
                                    : search_ == TreeSearch::depth_first ? depth_first()
                                                                         : random_tree();
    if (hosts_are_leaves) add_hosts(tree);
    return tree;
  }

  const std::vector<Cable>& cables() const { return cables_; }
  NodeId root() const { return root_; }

 private:
  static std::size_t at(NodeId node) { return static_cast<std::size_t>(node); }
  bool may_forward(NodeId node) const { return std::binary_search(forwards_.begin(), forwards_.end(), node); }

  /// A set of switches that cables join and that every host has a cable to; empty if there is none.
  std::vector<NodeId> switches_that_reach_all_hosts() const {
    std::vector<bool> seen(at(topology_.nodes()), false);
    for (NodeId first = topology_.hosts(); first < topology_.nodes(); ++first) {
      if (seen[at(first)]) continue;
      std::vector<NodeId> joined{first};
      std::vector<bool> reached(at(topology_.hosts()), false);
      seen[at(first)] = true;
      for (std::size_t i = 0; i < joined.size(); ++i)
        for (const Neighbour& next : neighbours_[at(joined[i])]) {
          if (topology_.is_host(next.node)) {
            reached[at(next.node)] = true;
          } else if (!seen[at(next.node)]) {
            seen[at(next.node)] = true;
            joined.push_back(next.node);
          }
        }
      if (std::find(reached.begin(), reached.end(), false) != reached.end()) continue;
      std::sort(joined.begin(), joined.end());
      return joined;
    }
    return {};
  }

  std::vector<NodeId> joined_to_first_host() const {
    std::vector<bool> seen(at(topology_.nodes()), false);
    std::vector<NodeId> joined{0};
    seen[0] = true;
    for (std::size_t i = 0; i < joined.size(); ++i)
      for (const Neighbour& next : neighbours_[at(joined[i])]) {
        if (seen[at(next.node)]) continue;
        seen[at(next.node)] = true;
        joined.push_back(next.node);
      }
    std::sort(joined.begin(), joined.end());
    return joined;
  }

  std::vector<std::size_t> breadth_first() {
    std::vector<std::size_t> tree;
    std::vector<NodeId> queue{root_};
    meet(root_);
    for (std::size_t i = 0; i < queue.size(); ++i)
      for (const Neighbour& next : neighbours_[at(queue[i])]) {
        if (!may_forward(next.node) || met_[at(next.node)] >= 0) continue;
        meet(next.node);
        tree.push_back(next.cable);
        queue.push_back(next.node);
      }
    return tree;
  }

  std::vector<std::size_t> depth_first() {
    std::vector<std::size_t> tree;
    std::vector<std::size_t> next_of(at(topology_.nodes()), 0);
    std::vector<NodeId> stack{root_};
    meet(root_);
    while (!stack.empty()) {
      const NodeId node = stack.back();
      std::size_t& i = next_of[at(node)];
      if (i == neighbours_[at(node)].size()) {
        stack.pop_back();
        continue;
      }
      const Neighbour next = neighbours_[at(node)][i++];
      if (!may_forward(next.node) || met_[at(next.node)] >= 0) continue;
      meet(next.node);
      tree.push_back(next.cable);
      stack.push_back(next.node);
    }
    return tree;
  }

  /// Cables in a random order, each unless it closes a loop.
  std::vector<std::size_t> random_tree() {
    std::vector<std::size_t> order(cables_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[below(random_, i)]);
    std::vector<NodeId> joined(at(topology_.nodes()));
    std::iota(joined.begin(), joined.end(), 0);
    const auto set_of = [&](NodeId node) {
      while (joined[at(node)] != node) node = joined[at(node)] = joined[at(joined[at(node)])];
      return node;
    };
    std::vector<std::size_t> tree;
    for (const std::size_t cable : order) {
      if (!may_forward(cables_[cable].low) || !may_forward(cables_[cable].high)) continue;
      const NodeId low = set_of(cables_[cable].low), high = set_of(cables_[cable].high);
      if (low == high) continue;
      joined[at(high)] = low;
      tree.push_back(cable);
    }
    return tree;
  }

  /// Every host on the switch that the search met first, or on any.
  void add_hosts(std::vector<std::size_t>& tree) {
    const auto is_in_tree = [&](const Neighbour& next) { return may_forward(next.node); };
    for (NodeId host = 0; host < topology_.hosts(); ++host) {
      std::vector<Neighbour> switches;
      std::copy_if(neighbours_[at(host)].begin(), neighbours_[at(host)].end(), std::back_inserter(switches),
                   is_in_tree);
      const auto earlier = [&](const Neighbour& a, const Neighbour& b) { return met_[at(a.node)] < met_[at(b.node)]; };
      tree.push_back(search_ == TreeSearch::random
                         ? switches[below(random_, switches.size())].cable
                         : std::min_element(switches.begin(), switches.end(), earlier)->cable);
    }
  }

  void meet(NodeId node) {
    if (met_.empty()) met_.assign(at(topology_.nodes()), -1);
    met_[at(node)] = met_so_far_++;
  }

  const Topology& topology_;
  TreeSearch search_;
  std::mt19937_64 random_;
  std::vector<Cable> cables_;
  Neighbours neighbours_;
  std::vector<NodeId> forwards_;  // sorted
  NodeId root_ = 0;
  std::vector<NodeId> met_;  // [node] how many nodes before it; -1: not met
  NodeId met_so_far_ = 0;
};

void expect_spanning(const Topology& topology, const Neighbours& tree) {
  std::vector<bool> reached(tree.size(), false);
  std::vector<NodeId> queue{0};
  reached[0] = true;
  for (std::size_t i = 0; i < queue.size(); ++i)
    for (const Neighbour& next : tree[static_cast<std::size_t>(queue[i])]) {
      if (reached[static_cast<std::size_t>(next.node)]) continue;
      reached[static_cast<std::size_t>(next.node)] = true;
      queue.push_back(next.node);
    }
  for (NodeId host = 0; host < topology.hosts(); ++host)
    if (!reached[static_cast<std::size_t>(host)])
      throw Error(fmt::format("{}: no cables join host {} and host {}; a spanning tree needs links in both directions",
                              topology.name(), topology.node_name(0), topology.node_name(host)));
}

/// Takes away switches with one neighbour until there is none; returns the root or, if that went, the nearest left.
NodeId prune(const Topology& topology, Neighbours& tree, NodeId root) {
  const auto is_idle = [&](NodeId node) {
    return !topology.is_host(node) && tree[static_cast<std::size_t>(node)].size() == 1;
  };
  std::vector<NodeId> idle;
  for (NodeId node = topology.hosts(); node < topology.nodes(); ++node)
    if (is_idle(node)) idle.push_back(node);
  for (std::size_t i = 0; i < idle.size(); ++i) {
    const NodeId node = idle[i];
    auto& own = tree[static_cast<std::size_t>(node)];
    const NodeId neighbour = own.front().node;
    if (topology.is_host(neighbour) && tree[static_cast<std::size_t>(neighbour)].size() == 1) continue;  // one host
    own.clear();
    std::erase_if(tree[static_cast<std::size_t>(neighbour)], [&](const Neighbour& n) { return n.node == node; });
    if (root == node) root = neighbour;
    if (is_idle(neighbour)) idle.push_back(neighbour);
  }
  return root;
}

/// Numbers switches by a depth-first walk from the root.
SpanningTree numbered(const Topology& topology, const std::vector<Cable>& cables, const Neighbours& tree, NodeId root) {
  const auto is_leaf = [&](NodeId node) {
    const auto& own = tree[static_cast<std::size_t>(node)];
    return topology.is_host(node) && own.size() == 1 && !topology.is_host(own.front().node);
  };
  if (is_leaf(root)) root = tree[static_cast<std::size_t>(root)].front().node;

  struct Visit {
    NodeId node = 0;
    NodeId from = -1;
    std::int32_t parent = -1;
    std::size_t cable = 0;
  };
  const auto towards = [&](NodeId node, std::size_t cable) {
    return node == cables[cable].high ? cables[cable].upwards : cables[cable].downwards;
  };
  SpanningTree result;
  result.machines.resize(static_cast<std::size_t>(topology.hosts()));
  std::vector<Visit> stack{{root}};
  while (!stack.empty()) {
    const Visit visit = stack.back();
    stack.pop_back();
    const auto self = static_cast<std::int32_t>(result.switches.size());
    TreeSwitch& own = result.switches.emplace_back();
    own.node = visit.node;
    own.parent = visit.parent;
    if (visit.parent >= 0) {
      own.to_parent = towards(visit.from, visit.cable);
      own.from_parent = towards(visit.node, visit.cable);
      TreeSwitch& parent = result.switches[static_cast<std::size_t>(visit.parent)];
      own.depth = parent.depth + 1;
      parent.children.push_back(self);
    }
    if (topology.is_host(visit.node)) {
      own.machines.push_back(visit.node);
      result.machines[static_cast<std::size_t>(visit.node)] = {self, -1, -1};
    }
    const auto& neighbours = tree[static_cast<std::size_t>(visit.node)];
    for (auto next = neighbours.rbegin(); next != neighbours.rend(); ++next)
      if (next->node != visit.from && !is_leaf(next->node))
        stack.push_back({next->node, visit.node, self, next->cable});
    for (const Neighbour& next : neighbours) {
      if (!is_leaf(next.node)) continue;
      own.machines.push_back(next.node);
      result.machines[static_cast<std::size_t>(next.node)] = {self, towards(visit.node, next.cable),
                                                              towards(next.node, next.cable)};
    }
  }
  return result;
}

}  // namespace

std::optional<TreeSearch> tree_search_named(std::string_view name) {
  if (name == "bfs") return TreeSearch::breadth_first;
  if (name == "dfs") return TreeSearch::depth_first;
  if (name == "random") return TreeSearch::random;
  return std::nullopt;
}

SpanningTree spanning_tree(const Topology& topology, TreeSearch search, std::uint64_t seed) {
  Search growth(topology, search, seed);
  const std::vector<std::size_t> chosen = growth.run();
  Neighbours tree = neighbours_of(topology.nodes(), growth.cables(), chosen);
  expect_spanning(topology, tree);
  const NodeId root = prune(topology, tree, growth.root());
  return numbered(topology, growth.cables(), tree, root);
}

std::vector<LinkId> SpanningTree::path(Rank source, Rank target) const {
  if (source == target) return {};
  const TreeMachine& from = machines[static_cast<std::size_t>(source)];
  const TreeMachine& to = machines[static_cast<std::size_t>(target)];
  std::vector<LinkId> up, down;
  if (from.to_switch >= 0) up.push_back(from.to_switch);
  if (to.from_switch >= 0) down.push_back(to.from_switch);
  std::int32_t a = from.at, b = to.at;
  while (a != b) {
    const TreeSwitch& tail = switches[static_cast<std::size_t>(a)];
    const TreeSwitch& head = switches[static_cast<std::size_t>(b)];
    if (tail.depth >= head.depth) {
      up.push_back(tail.to_parent);
      a = tail.parent;
    } else {
      down.push_back(head.from_parent);
      b = head.parent;
    }
  }
  up.insert(up.end(), down.rbegin(), down.rend());
  return up;
}

int SpanningTree::path_length(Rank source, Rank target) const {
  if (source == target) return 0;
  std::int32_t a = machines[static_cast<std::size_t>(source)].at, b = machines[static_cast<std::size_t>(target)].at;
  int length = 1;
  for (; a != b; ++length) {
    const TreeSwitch& tail = switches[static_cast<std::size_t>(a)];
    const TreeSwitch& head = switches[static_cast<std::size_t>(b)];
    if (tail.depth >= head.depth)
      a = tail.parent;
    else
      b = head.parent;
  }
  return length;
}

}  // namespace colltopo
