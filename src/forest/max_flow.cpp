// Dinic: breadth-first levels from the source, then augmenting paths that climb one level per arc.
#include "forest/max_flow.h"

#include <algorithm>

namespace colltopo {

MaxFlow::MaxFlow(NodeId nodes, std::span<const CapacityEdge> edges)
    : arcs_(nodes, edges), level_(static_cast<std::size_t>(nodes), -1), current_(static_cast<std::size_t>(nodes), 0) {
  clear();
}

bool MaxFlow::find_levels(NodeId source, NodeId sink) {
  std::ranges::fill(level_, -1);
  queue_.clear();
  queue_.push_back(source);
  level_[static_cast<std::size_t>(source)] = 0;
  for (std::size_t next = 0; next < queue_.size(); ++next) {
    const auto node = static_cast<std::size_t>(queue_[next]);
    for (Arc arc = arcs_.first[node]; arc < arcs_.first[node + 1]; ++arc) {
      const auto head = static_cast<std::size_t>(arcs_.head[arc]);
      if (residual_[arc] == 0 || level_[head] >= 0) continue;
      level_[head] = level_[node] + 1;
      if (arcs_.head[arc] == sink) return true;
      queue_.push_back(arcs_.head[arc]);
    }
  }
  return false;
}

Capacity MaxFlow::augment_along_levels(NodeId source, NodeId sink, Capacity limit) {
  std::copy(arcs_.first.begin(), arcs_.first.end() - 1, current_.begin());
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
        residual_[arcs_.mate[path_[i]]] += amount;
        if (residual_[path_[i]] == 0) keep = i;
      }
      pushed += amount;
      at = keep < path_.size() ? arcs_.head[arcs_.mate[path_[keep]]] : sink;
      path_.resize(keep);
      continue;
    }
    const auto node = static_cast<std::size_t>(at);
    Arc& arc = current_[node];
    while (arc < arcs_.first[node + 1] &&
           (residual_[arc] == 0 || level_[static_cast<std::size_t>(arcs_.head[arc])] != level_[node] + 1))
      ++arc;
    if (arc < arcs_.first[node + 1]) {
      path_.push_back(arc);
      at = arcs_.head[arc];
    } else {
      if (path_.empty()) break;
      level_[node] = -2;  // a dead end
      at = arcs_.head[arcs_.mate[path_.back()]];
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
