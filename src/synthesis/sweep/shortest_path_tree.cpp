// Bellman-Ford in a remembered order.
#include "synthesis/sweep/shortest_path_tree.h"

#include <algorithm>
#include <cassert>
#include <limits>

namespace colltopo::synthesis {

ShortestPathTree::ShortestPathTree(const Arcs& arcs)
    : arcs_(arcs),
      distance_(static_cast<std::size_t>(arcs.nodes())),
      arriving_by_(distance_.size()),
      place_(distance_.size()),
      path_(distance_.size()) {}

void ShortestPathTree::visit_breadth_first(NodeId source, std::vector<NodeId>& order) const {
  std::vector<char> seen(distance_.size());  // bytes: bits take longer to get at
  order.assign(1, source);
  seen[static_cast<std::size_t>(source)] = 1;
  for (std::size_t i = 0; i < order.size(); ++i)
    for (std::int32_t arc = arcs_.first_out(order[i]); arc < arcs_.first_out(order[i] + 1); ++arc) {
      const NodeId head = arcs_.arc(arc).head;
      if (seen[static_cast<std::size_t>(head)]) continue;
      seen[static_cast<std::size_t>(head)] = 1;
      order.push_back(head);
    }
}

void ShortestPathTree::relax_from(NodeId node, std::span<const double> class_lengths) {
  const double near = distance_[static_cast<std::size_t>(node)];
  const std::int32_t end = arcs_.first_out(node + 1);
  for (std::int32_t at = arcs_.first_out(node); at < end; ++at) {
    const Arc& arc = arcs_.arc(at);
    const auto head = static_cast<std::size_t>(arc.head);
    const double far = near + class_lengths[static_cast<std::size_t>(arc.link_class)];
    if (far >= distance_[head]) continue;
    distance_[head] = far;
    arriving_by_[head] = at;
    if (place_[head] != Place::settled) continue;
    place_[head] = Place::queued;
    queue_.push_back(arc.head);
  }
}

void ShortestPathTree::grow(NodeId source, std::span<const double> class_lengths, std::vector<NodeId>& order) {
  source_ = source;
  if (order.empty()) visit_breadth_first(source, order);
  std::fill(distance_.begin(), distance_.end(), std::numeric_limits<double>::infinity());
  std::fill(place_.begin(), place_.end(), Place::ahead);
  distance_[static_cast<std::size_t>(source)] = 0;
  queue_.clear();
  for (const NodeId node : order) {
    place_[static_cast<std::size_t>(node)] = Place::settled;
    relax_from(node, class_lengths);
  }
  for (std::size_t i = 0; i < queue_.size(); ++i) {
    place_[static_cast<std::size_t>(queue_[i])] = Place::settled;
    relax_from(queue_[i], class_lengths);
  }
  if (queue_.size() <= order.size() / 2) return;
  by_distance_.clear();
  for (const NodeId node : order) by_distance_.emplace_back(distance(node), node);
  std::sort(by_distance_.begin(), by_distance_.end());
  std::transform(by_distance_.begin(), by_distance_.end(), order.begin(), [](const auto& node) { return node.second; });
}

void ShortestPathTree::measure(std::span<const double> class_lengths) {
  measured_.assign(distance_.size(), -1);
  measured_[static_cast<std::size_t>(source_)] = 0;
  for (std::size_t node = 0; node < measured_.size(); ++node) {
    if (distance_[node] == std::numeric_limits<double>::infinity()) continue;
    // Up to an ancestor that is known, and down again.
    for (std::size_t at = node; measured_[at] < 0; at = static_cast<std::size_t>(arcs_.tail(way_up_.back())))
      way_up_.push_back(arriving_by_[at]);
    for (; !way_up_.empty(); way_up_.pop_back()) {
      const Arc& arc = arcs_.arc(way_up_.back());
      measured_[static_cast<std::size_t>(arc.head)] = measured_[static_cast<std::size_t>(arcs_.tail(way_up_.back()))] +
                                                      class_lengths[static_cast<std::size_t>(arc.link_class)];
    }
  }
}

std::span<const LinkId> ShortestPathTree::path(NodeId node) {
  std::size_t first = path_.size();
  while (node != source_) {
    const std::int32_t arc = arriving_by_[static_cast<std::size_t>(node)];
    assert(first > 0);
    path_[--first] = arcs_.link(arc);
    node = arcs_.tail(arc);
  }
  return std::span(path_).subspan(first);
}

}  // namespace colltopo::synthesis
