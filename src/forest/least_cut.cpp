// A preflow to one sink after the other, none of which begins anew: a sink that has got what it can becomes a source.
//
// Nodes are sources, dormant or awake. A dormant node has no residual arc to one that is awake, so what arrives there
// stays, until nobody is awake and the set that went to sleep last is woken. When no awake node but the sink has
// excess, the awake nodes are cut off from the others, and what arrived at the sink is what the cut lets through:
//
//        source          sinks so far       asleep            awake
//      .--------.         .--------.       .--------.       .---------------.
//      |   s    | ------> | b,  d  | ----> | a (+2) |  full | c (0)  t (+3) |    the cut around c and t has 3
//      '--------'         '--------'       '--------' ====> '---------------'
//
// Awake nodes have labels: lower bounds on the arcs to the sink, short of a constant. Excess goes down by one label per
// arc. A node whose arcs to the awake all are full goes to sleep; with a label that nobody else has, so do all above
// it, since no arc leads down past it. Labels stay right when the next sink is an awake node with the lowest.
#include "forest/least_cut.h"

#include <algorithm>
#include <cassert>
#include <limits>

namespace colltopo {

namespace {

class Preflow {
 public:
  Preflow(NodeId nodes, std::span<const CapacityEdge> edges, NodeId source)
      : arcs_(nodes, edges),
        residual_(arcs_.capacity),
        place_(static_cast<std::size_t>(nodes), k_awake),
        label_(place_.size(), 0),
        excess_(place_.size(), 0),
        current_(arcs_.first.begin(), arcs_.first.end() - 1),
        active_(place_.size() + 1),
        awake_with_(place_.size() + 1, 0),
        sink_(source == 0 ? 1 : 0) {
    assert(nodes > 1);
    place_[at(source)] = k_source;
    label_by_distance();
    push_all_out_of(source);
  }

  LeastCut run() {
    LeastCut least{std::numeric_limits<Capacity>::max(), {}};
    do {
      while (anybody_is_active()) {
        const NodeId node = active_[at(highest_)].back();
        active_[at(highest_)].pop_back();
        if (node != sink_ && is_awake(node) && label_[at(node)] == highest_ && excess_[at(node)] > 0) discharge(node);
      }
      if (excess_[at(sink_)] < least.capacity) {
        least.capacity = excess_[at(sink_)];
        least.inside.assign(place_.size(), false);
        for (std::size_t node = 0; node < place_.size(); ++node) least.inside[node] = place_[node] != k_awake;
      }
    } while (find_next_sink());
    return least;
  }

 private:
  using Arc = PairedArcs::Arc;
  static constexpr std::int32_t k_awake = -1, k_source = 0;  // places; others are sets of dormant nodes

  static std::size_t at(std::int32_t index) { return static_cast<std::size_t>(index); }
  bool is_awake(NodeId node) const { return place_[at(node)] == k_awake; }

  /// Of nodes that reach the sink; the others sleep from the beginning.
  void label_by_distance() {
    std::vector<NodeId> queue{sink_};
    std::vector<bool> seen(place_.size(), false);
    seen[at(sink_)] = true;
    for (std::size_t next = 0; next < queue.size(); ++next)
      for (Arc arc = arcs_.first[at(queue[next])]; arc < arcs_.first[at(queue[next]) + 1]; ++arc) {
        const NodeId tail = arcs_.head[arc];
        if (seen[at(tail)] || residual_[arcs_.mate[arc]] == 0 || !is_awake(tail)) continue;
        seen[at(tail)] = true;
        label_[at(tail)] = label_[at(queue[next])] + 1;
        queue.push_back(tail);
      }
    for (const NodeId node : queue) ++awake_with_[at(label_[at(node)])];
    std::vector<NodeId> cut_off;
    for (std::size_t node = 0; node < place_.size(); ++node)
      if (place_[node] == k_awake && !seen[node]) cut_off.push_back(static_cast<NodeId>(node));
    if (!cut_off.empty()) lay_down(std::move(cut_off));
  }

  void push(NodeId tail, Arc arc, Capacity amount) {
    const NodeId head = arcs_.head[arc];
    residual_[arc] -= amount;
    residual_[arcs_.mate[arc]] += amount;
    excess_[at(tail)] -= amount;
    if (excess_[at(head)] == 0 && is_awake(head)) activate(head);
    excess_[at(head)] += amount;
  }

  void push_all_out_of(NodeId source) {
    for (Arc arc = arcs_.first[at(source)]; arc < arcs_.first[at(source) + 1]; ++arc)
      if (residual_[arc] > 0 && place_[at(arcs_.head[arc])] != k_source) push(source, arc, residual_[arc]);
  }

  void activate(NodeId node) {
    active_[at(label_[at(node)])].push_back(node);
    highest_ = std::max(highest_, label_[at(node)]);
  }

  bool anybody_is_active() {
    while (highest_ >= 0 && active_[at(highest_)].empty()) --highest_;
    return highest_ >= 0;
  }

  void discharge(NodeId node) {
    Arc& arc = current_[at(node)];
    while (excess_[at(node)] > 0) {
      if (arc == arcs_.first[at(node) + 1]) {
        lift(node);
        if (is_awake(node)) activate(node);
        return;
      }
      const NodeId head = arcs_.head[arc];
      if (residual_[arc] > 0 && is_awake(head) && label_[at(head)] + 1 == label_[at(node)])
        push(node, arc, std::min(excess_[at(node)], residual_[arc]));
      if (excess_[at(node)] > 0) ++arc;
    }
  }

  /// To the least label from which an arc leads down, or asleep.
  void lift(NodeId node) {
    std::int32_t& label = label_[at(node)];
    if (awake_with_[at(label)] == 1) {
      std::vector<NodeId> above;
      for (std::size_t other = 0; other < place_.size(); ++other)
        if (place_[other] == k_awake && label_[other] >= label) above.push_back(static_cast<NodeId>(other));
      for (const NodeId other : above) --awake_with_[at(label_[at(other)])];
      return lay_down(std::move(above));
    }
    std::int32_t least = std::numeric_limits<std::int32_t>::max();
    for (Arc arc = arcs_.first[at(node)]; arc < arcs_.first[at(node) + 1]; ++arc)
      if (residual_[arc] > 0 && is_awake(arcs_.head[arc])) least = std::min(least, label_[at(arcs_.head[arc])]);
    --awake_with_[at(label)];
    if (least == std::numeric_limits<std::int32_t>::max()) return lay_down({node});
    label = least + 1;
    assert(at(label) < awake_with_.size());
    ++awake_with_[at(label)];
    current_[at(node)] = arcs_.first[at(node)];
  }

  void lay_down(std::vector<NodeId> nodes) {
    dormant_.push_back(std::move(nodes));
    for (const NodeId node : dormant_.back()) place_[at(node)] = static_cast<std::int32_t>(dormant_.size());
  }

  void wake_last() {
    const std::vector<NodeId> nodes = std::move(dormant_.back());
    dormant_.pop_back();
    for (const NodeId node : nodes) {
      place_[at(node)] = k_awake;
      ++awake_with_[at(label_[at(node)])];
      current_[at(node)] = arcs_.first[at(node)];
      if (excess_[at(node)] > 0) activate(node);
    }
  }

  /// The sink becomes a source, and another node the sink. False when all are sources.
  bool find_next_sink() {
    place_[at(sink_)] = k_source;
    --awake_with_[at(label_[at(sink_)])];
    push_all_out_of(sink_);
    sink_ = lowest_awake();
    if (sink_ < 0 && !dormant_.empty()) {
      wake_last();
      sink_ = lowest_awake();
    }
    return sink_ >= 0;
  }

  NodeId lowest_awake() const {
    NodeId lowest = -1;
    for (std::size_t node = 0; node < place_.size(); ++node)
      if (place_[node] == k_awake && (lowest < 0 || label_[node] < label_[at(lowest)]))
        lowest = static_cast<NodeId>(node);
    return lowest;
  }

  PairedArcs arcs_;
  std::vector<Capacity> residual_;
  std::vector<std::int32_t> place_;           // [node]
  std::vector<std::int32_t> label_;           // [node]
  std::vector<Capacity> excess_;              // [node]
  std::vector<Arc> current_;                  // [node] arcs before it lead nowhere with this label
  std::vector<std::vector<NodeId>> active_;   // [label] awake nodes that had excess; some no longer
  std::vector<NodeId> awake_with_;            // [label] how many
  std::vector<std::vector<NodeId>> dormant_;  // the last is woken first
  std::int32_t highest_ = -1;                 // no active node has a higher label
  NodeId sink_;
};

}  // namespace

LeastCut least_cut(NodeId nodes, std::span<const CapacityEdge> edges, NodeId source) {
  return Preflow(nodes, edges, source).run();
}

}  // namespace colltopo
