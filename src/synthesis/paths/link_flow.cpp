// Link flows put right: no cycles, and as much entering every node as it needs.
#include "synthesis/paths/link_flow.h"

#include <algorithm>
#include <cassert>
#include <limits>

#include "colltopo/error.h"

namespace colltopo::synthesis {

namespace {

std::vector<double> amounts_by_link(const Topology& topology, const LinkFlow& flow) {
  std::vector<double> amounts(topology.links().size(), 0);
  for (const LinkAmount& on : flow.links) amounts[static_cast<std::size_t>(on.link)] = on.amount;
  return amounts;
}

void take(LinkFlow& flow, const std::vector<double>& amounts) {
  for (LinkAmount& on : flow.links) on.amount = amounts[static_cast<std::size_t>(on.link)];
  std::erase_if(flow.links, [](const LinkAmount& on) { return !(on.amount > 0); });
}

/// A depth-first walk over links with flow. Meeting a node of the path that leads to where it stands, it takes the
/// smallest amount off that cycle and steps back to where a link has become empty. A node that it leaves for good is on
/// no cycle any more.
class CycleWalk {
 public:
  CycleWalk(const Topology& topology, std::vector<double>& amounts)
      : topology_(topology),
        amounts_(amounts),
        place_(static_cast<std::size_t>(topology.nodes()), k_new),
        next_(place_.size(), 0) {}

  /// Nodes in the order in which they were left: against the flow.
  std::vector<NodeId> run() {
    for (NodeId root = 0; root < topology_.nodes(); ++root)
      if (place(root) == k_new) from(root);
    return std::move(left_);
  }

 private:
  static constexpr int k_new = -1, k_left = -2;

  int& place(NodeId node) { return place_[static_cast<std::size_t>(node)]; }
  double& amount(LinkId link) { return amounts_[static_cast<std::size_t>(link)]; }

  void from(NodeId root) {
    place(root) = 0;
    NodeId at = root;
    for (;;) {
      const auto links = topology_.links_out(at);
      std::size_t& next = next_[static_cast<std::size_t>(at)];
      while (next < links.size() && (!(amount(links[next]) > 0) || place(topology_.link(links[next]).head) == k_left))
        ++next;
      if (next < links.size()) {
        const NodeId head = topology_.link(links[next]).head;
        if (place(head) == k_new) {
          path_.push_back(links[next]);
          place(head) = static_cast<int>(path_.size());
          at = head;
        } else {
          at = cancel(links[next], head);
        }
        continue;
      }
      place(at) = k_left;
      left_.push_back(at);
      if (path_.empty()) return;
      at = topology_.link(path_.back()).tail;
      path_.pop_back();
    }
  }

  /// `closing` leads back to `head`, which is on the path. Returns where to go on.
  NodeId cancel(LinkId closing, NodeId head) {
    const auto first = path_.begin() + place(head);
    double least = amount(closing);
    for (auto link = first; link != path_.end(); ++link) least = std::min(least, amount(*link));
    amount(closing) -= least;
    auto empty = path_.end();
    for (auto link = path_.end(); link != first;) {
      --link;
      amount(*link) -= least;
      if (!(amount(*link) > 0)) empty = link;
    }
    if (empty == path_.end()) return topology_.link(closing).tail;
    for (auto link = empty; link != path_.end(); ++link) place(topology_.link(*link).head) = k_new;
    const NodeId at = topology_.link(*empty).tail;
    path_.erase(empty, path_.end());
    return at;
  }

  const Topology& topology_;
  std::vector<double>& amounts_;
  std::vector<int> place_;         // [node] links of the path before it, or one of the above
  std::vector<std::size_t> next_;  // [node] the link out to look at
  std::vector<LinkId> path_;
  std::vector<NodeId> left_;
};

}  // namespace

void cancel_cycles(const Topology& topology, LinkFlow& flow) {
  std::vector<double> amounts = amounts_by_link(topology, flow);
  CycleWalk(topology, amounts).run();
  take(flow, amounts);
}

void restore_conservation(const Topology& topology, LinkFlow& flow) {
  std::vector<double> amounts = amounts_by_link(topology, flow);
  const std::vector<NodeId> order = CycleWalk(topology, amounts).run();
  const auto sum = [&](std::span<const LinkId> links) {
    double total = 0;
    for (const LinkId link : links) total += amounts[static_cast<std::size_t>(link)];
    return total;
  };
  const auto scale = [&](std::span<const LinkId> links, double factor) {
    for (const LinkId link : links) amounts[static_cast<std::size_t>(link)] *= factor;
  };

  // With the flow: what leaves a node that nothing enters is rounding.
  for (auto node = order.rbegin(); node != order.rend(); ++node)
    if (*node != flow.source && !(sum(topology.links_in(*node)) > 0)) scale(topology.links_out(*node), 0);
  for (const NodeId node : order) {
    const auto in = topology.links_in(node);
    const double entering = sum(in);
    const double needed = node == flow.source ? 0 : sum(topology.links_out(node)) + flow.demand(topology, node);
    if (needed > 0 && !(entering > 0))
      throw Error(topology.name() + ": the flow from host " + topology.node_name(flow.source) + " does not reach " +
                  topology.node_name(node));
    if (entering > 0) scale(in, needed / entering);
  }
  take(flow, amounts);
}

}  // namespace colltopo::synthesis
