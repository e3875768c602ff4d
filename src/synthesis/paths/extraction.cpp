// From link flows to paths: widest path extraction (MCF-extP) and stripping.
#include <algorithm>
#include <cassert>
#include <limits>
#include <queue>
#include <utility>

#include "colltopo/error.h"
#include "colltopo/routing.h"
#include "synthesis/paths/link_flow.h"

namespace colltopo::synthesis {

namespace {

/// What is left of a flow, by link.
class Remainder {
 public:
  Remainder(const Topology& topology, const LinkFlow& flow)
      : topology_(topology), source_(flow.source), amounts_(topology.links().size(), 0) {
    for (const LinkAmount& on : flow.links) amounts_[static_cast<std::size_t>(on.link)] = on.amount;
  }

  double narrowest(const std::vector<LinkId>& path) const {
    double width = std::numeric_limits<double>::infinity();
    for (const LinkId link : path) width = std::min(width, amount(link));
    return width;
  }

  void take(const std::vector<LinkId>& path, double width) {
    for (const LinkId link : path) {
      double& left = amounts_[static_cast<std::size_t>(link)];
      left = std::max(0.0, left - width);
    }
  }

  /// Empty when there is no path to `target` along links with flow.
  std::vector<LinkId> widest(NodeId target) const {
    std::vector<double> width(static_cast<std::size_t>(topology_.nodes()), 0);
    std::vector<LinkId> last(width.size(), -1);
    std::priority_queue<std::pair<double, NodeId>> queue;
    width[static_cast<std::size_t>(source_)] = std::numeric_limits<double>::infinity();
    queue.emplace(width[static_cast<std::size_t>(source_)], source_);
    while (!queue.empty()) {
      const auto [wide, node] = queue.top();
      queue.pop();
      if (node == target) break;
      if (wide < width[static_cast<std::size_t>(node)]) continue;
      for (const LinkId link : topology_.links_out(node)) {
        const auto head = static_cast<std::size_t>(topology_.link(link).head);
        const double through = std::min(wide, amount(link));
        if (through <= width[head]) continue;
        width[head] = through;
        last[head] = link;
        queue.emplace(through, topology_.link(link).head);
      }
    }
    return back_from(target, [&](NodeId node) { return last[static_cast<std::size_t>(node)]; });
  }

  /// From `target` back along the largest amounts; empty when there is none.
  std::vector<LinkId> back_along_largest(NodeId target) const {
    return back_from(target, [&](NodeId node) {
      LinkId largest = -1;
      for (const LinkId link : topology_.links_in(node))
        if (amount(link) > (largest < 0 ? 0 : amount(largest))) largest = link;
      return largest;
    });
  }

 private:
  double amount(LinkId link) const { return amounts_[static_cast<std::size_t>(link)]; }

  /// `last(node)`: the link to arrive by, -1 for none.
  template <typename Last>
  std::vector<LinkId> back_from(NodeId target, const Last& last) const {
    std::vector<LinkId> path;
    for (NodeId node = target; node != source_; node = topology_.link(path.back()).tail) {
      const LinkId link = last(node);
      if (link < 0) return {};
      path.push_back(link);
    }
    std::reverse(path.begin(), path.end());
    return path;
  }

  const Topology& topology_;
  NodeId source_;
  std::vector<double> amounts_;
};

/// The paths that `next` finds until the unit for `target` is used up; their weights made to sum to 1.
template <typename Next>
void take_apart(const Topology& topology, Remainder& remainder, NodeId source, NodeId target, const Next& next,
                std::vector<FlowPath>& paths) {
  const std::size_t first = paths.size();
  double open = 1;
  while (open > k_least_share) {
    std::vector<LinkId> links = next(target);
    if (links.empty()) break;
    const double weight = std::min(open, remainder.narrowest(links));
    if (!(weight > k_least_share)) break;
    remainder.take(links, weight);
    open -= weight;
    paths.push_back({target, weight, std::move(links)});
  }
  if (paths.size() == first)
    throw Error(topology.name() + ": the flow from host " + topology.node_name(source) + " does not reach " +
                topology.node_name(target));
  for (std::size_t i = first; i < paths.size(); ++i) paths[i].weight /= 1 - open;
}

}  // namespace

std::vector<FlowPath> widest_paths(const Topology& topology, const LinkFlow& flow) {
  assert(flow.target != LinkFlow::k_everybody);
  Remainder remainder(topology, flow);
  std::vector<FlowPath> paths;
  take_apart(
      topology, remainder, flow.source, flow.target, [&](NodeId target) { return remainder.widest(target); }, paths);
  return paths;
}

std::vector<FlowPath> strip_paths(const Topology& topology, const LinkFlow& flow) {
  Remainder remainder(topology, flow);
  std::vector<FlowPath> paths;
  for (NodeId target = 0; target < topology.hosts(); ++target)
    if (flow.demand(topology, target) > 0)
      take_apart(
          topology, remainder, flow.source, target, [&](NodeId node) { return remainder.back_along_largest(node); },
          paths);
  return paths;
}

Routing routing_of(const Topology& topology, std::vector<LinkFlow> flows) {
  Routing routing(topology.hosts());
  for (LinkFlow& flow : flows) {
    restore_conservation(topology, flow);
    const bool pair = flow.target != LinkFlow::k_everybody;
    for (const FlowPath& path : pair ? widest_paths(topology, flow) : strip_paths(topology, flow))
      routing.add(flow.source, path.target, path.weight, path.links);
  }
  return routing;
}

}  // namespace colltopo::synthesis
