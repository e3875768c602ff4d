// Dinic: breadth-first levels from the source, then augmenting paths that climb one level per arc.
#include "forest/max_flow.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace colltopo {

// An edge and one the opposite way share a pair of arcs, each being the other's way back; others get an arc of capacity
// zero for it.
MaxFlow::MaxFlow(NodeId nodes, std::span<const CapacityEdge> edges)
    : first_arc_(static_cast<std::size_t>(nodes) + 1, 0),
      arc_of_edge_(edges.size()),
      level_(static_cast<std::size_t>(nodes), -1),
      current_(static_cast<std::size_t>(nodes), 0) {
  const auto ends = [&](std::size_t edge) { return std::minmax(edges[edge].tail, edges[edge].head); };
  std::vector<std::size_t> order(edges.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    return std::tuple(ends(a), edges[a].tail, a) < std::tuple(ends(b), edges[b].tail, b);
  });

  struct Pair {
    NodeId tail, head;
    std::size_t there, back;  // edges; edges.size(): none
  };
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < order.size();) {
    std::size_t turn = i, end = i;  // edges from the lower node, then those from the higher
    while (end < order.size() && ends(order[end]) == ends(order[i])) {
      if (edges[order[end]].tail == ends(order[i]).first) turn = end + 1;
      ++end;
    }
    const auto [low, high] = ends(order[i]);
    for (std::size_t j = 0; j < std::max(turn - i, end - turn); ++j)
      pairs.push_back(
          {low, high, i + j < turn ? order[i + j] : edges.size(), turn + j < end ? order[turn + j] : edges.size()});
    i = end;
  }

  for (const Pair& pair : pairs) {
    ++first_arc_[static_cast<std::size_t>(pair.tail) + 1];
    ++first_arc_[static_cast<std::size_t>(pair.head) + 1];
  }
  std::partial_sum(first_arc_.begin(), first_arc_.end(), first_arc_.begin());
  head_.resize(2 * pairs.size());
  mate_.resize(2 * pairs.size());
  capacity_.assign(2 * pairs.size(), 0);
  std::vector<Arc> next(first_arc_.begin(), first_arc_.end() - 1);
  for (const Pair& pair : pairs) {
    const Arc there = next[static_cast<std::size_t>(pair.tail)]++;
    const Arc back = next[static_cast<std::size_t>(pair.head)]++;
    head_[there] = pair.head;
    head_[back] = pair.tail;
    mate_[there] = back;
    mate_[back] = there;
    for (const auto& [edge, arc] : {std::pair(pair.there, there), std::pair(pair.back, back)}) {
      if (edge == edges.size()) continue;
      arc_of_edge_[edge] = arc;
      capacity_[arc] = edges[edge].capacity;
    }
  }
  clear();
}

bool MaxFlow::find_levels(NodeId source, NodeId sink) {
  std::ranges::fill(level_, -1);
  queue_.clear();
  queue_.push_back(source);
  level_[static_cast<std::size_t>(source)] = 0;
  for (std::size_t next = 0; next < queue_.size(); ++next) {
    const auto node = static_cast<std::size_t>(queue_[next]);
    for (Arc arc = first_arc_[node]; arc < first_arc_[node + 1]; ++arc) {
      const auto head = static_cast<std::size_t>(head_[arc]);
      if (residual_[arc] == 0 || level_[head] >= 0) continue;
      level_[head] = level_[node] + 1;
      if (head_[arc] == sink) return true;
      queue_.push_back(head_[arc]);
    }
  }
  return false;
}

Capacity MaxFlow::augment_along_levels(NodeId source, NodeId sink, Capacity limit) {
  std::copy(first_arc_.begin(), first_arc_.end() - 1, current_.begin());
  Capacity pushed = 0;
  path_.clear();
  NodeId at = source;
  while (pushed < limit) {
    if (at == sink) {
      Capacity amount = limit - pushed;
      for (const Arc arc : path_) amount = std::min(amount, residual_[arc]);
      std::size_t keep = path_.size();  // arcs before the first that is now full
      for (std::size_t i = path_.size(); i-- > 0;) {
        residual_[path_[i]] -= amount;
        residual_[mate_[path_[i]]] += amount;
        if (residual_[path_[i]] == 0) keep = i;
      }
      pushed += amount;
      at = keep < path_.size() ? head_[mate_[path_[keep]]] : sink;
      path_.resize(keep);
      continue;
    }
    const auto node = static_cast<std::size_t>(at);
    Arc& arc = current_[node];
    while (arc < first_arc_[node + 1] &&
           (residual_[arc] == 0 || level_[static_cast<std::size_t>(head_[arc])] != level_[node] + 1))
      ++arc;
    if (arc < first_arc_[node + 1]) {
      path_.push_back(arc);
      at = head_[arc];
    } else {
      if (path_.empty()) break;
      level_[node] = -2;  // a dead end
      at = head_[mate_[path_.back()]];
      path_.pop_back();
    }
  }
  return pushed;
}

Capacity MaxFlow::push(NodeId source, NodeId sink, Capacity limit) {
  Capacity pushed = 0;
  while (pushed < limit && find_levels(source, sink)) pushed += augment_along_levels(source, sink, limit - pushed);
  return pushed;
}

}  // namespace colltopo
