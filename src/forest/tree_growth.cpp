// Levels keep trees low. When nothing can carry the whole weight of a tree, the edge that carries most decides its
// weight.
#include "forest/tree_growth.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <tuple>

#include "colltopo/error.h"

namespace colltopo {

namespace {

std::vector<CapacityEdge> with_hub(NodeId hosts, std::span<const CapacityEdge> edges) {
  std::vector<CapacityEdge> all(edges.begin(), edges.end());
  for (NodeId host = 0; host < hosts; ++host) all.push_back({host, hosts, 0});
  for (NodeId host = 0; host < hosts; ++host) all.push_back({hosts, host, 0});
  return all;
}

}  // namespace

TreeGrowth::TreeGrowth(NodeId hosts, std::span<const CapacityEdge> edges)
    : hosts_(hosts), edges_(edges), flows_(hosts + 1, with_hub(hosts, edges)) {
  first_out_.assign(static_cast<std::size_t>(hosts) + 1, 0);
  for (const CapacityEdge& edge : edges) ++first_out_[static_cast<std::size_t>(edge.tail) + 1];
  std::partial_sum(first_out_.begin(), first_out_.end(), first_out_.begin());
}

TreeGrowth::Growing TreeGrowth::begin(KnownCuts& cuts, NodeId root, Capacity weight) const {
  cuts.start(root);
  Growing growing{{root, weight, {}}, std::vector<bool>(static_cast<std::size_t>(hosts_), false), {root}};
  growing.covered[static_cast<std::size_t>(root)] = true;
  return growing;
}

void TreeGrowth::add(Growing& growing, KnownCuts& cuts, Edge edge) const {
  cuts.grow(edges_[edge].tail, edges_[edge].head);
  growing.tree.edges.push_back(edge);
  growing.covered[static_cast<std::size_t>(edges_[edge].head)] = true;
}

std::vector<TreeGrowth::Edge> TreeGrowth::candidates(const Growing& growing, const PackingState& state) const {
  std::vector<Edge> found;
  for (const NodeId host : growing.level)
    for (Edge edge = first_out_[static_cast<std::size_t>(host)]; edge < first_out_[static_cast<std::size_t>(host) + 1];
         ++edge)
      if (state.residual[edge] > 0 && !growing.covered[static_cast<std::size_t>(edges_[edge].head)])
        found.push_back(edge);
  // Among equals every root begins elsewhere, so that not all take the same.
  const auto turned = [&](NodeId head) { return (head - growing.tree.root + hosts_) % hosts_; };
  std::ranges::sort(found, [&](Edge a, Edge b) {
    return std::tuple(-state.residual[a], turned(edges_[a].head), edges_[a].tail) <
           std::tuple(-state.residual[b], turned(edges_[b].head), edges_[b].tail);
  });
  return found;
}

std::optional<PackedTree> TreeGrowth::by_known_cuts(const PackingState& state, KnownCuts& cuts, NodeId root) {
  Capacity weight = state.left[static_cast<std::size_t>(root)];
  for (;;) {
    Growing growing = begin(cuts, root, weight);
    std::vector<Edge> waiting;
    const auto allowed = [&](Edge edge) {
      return std::min(state.residual[edge], cuts.allowed(edges_[edge].tail, edges_[edge].head));
    };
    while (!growing.level.empty()) {
      std::vector<NodeId> next;
      for (const Edge edge : candidates(growing, state)) {
        if (growing.covered[static_cast<std::size_t>(edges_[edge].head)]) continue;
        if (allowed(edge) >= weight) {
          add(growing, cuts, edge);
          next.push_back(edges_[edge].head);
        } else {
          waiting.push_back(edge);
        }
      }
      growing.level = std::move(next);
    }
    if (growing.tree.edges.size() + 1 == static_cast<std::size_t>(hosts_)) return std::move(growing.tree);
    // Again, lighter: then edges near the root can carry it, and the tree becomes low.
    Capacity most = 0;
    for (const Edge edge : waiting)
      if (!growing.covered[static_cast<std::size_t>(edges_[edge].head)]) most = std::max(most, allowed(edge));
    if (most == 0) return std::nullopt;
    weight = most;
  }
}

void TreeGrowth::set_flows(const PackingState& state, const Growing& growing) {
  for (std::size_t edge = 0; edge < edges_.size(); ++edge) flows_.set_capacity(edge, state.residual[edge]);
  for (const Edge edge : growing.tree.edges) flows_.set_capacity(edge, state.residual[edge] - growing.tree.weight);
  for (NodeId host = 0; host < hosts_; ++host) {
    const auto at = static_cast<std::size_t>(host);
    flows_.set_capacity(edges_.size() + static_cast<std::size_t>(hosts_) + at,
                        state.left[at] - (host == growing.tree.root ? growing.tree.weight : 0));
  }
}

Capacity TreeGrowth::safe(const PackingState& state, const Growing& growing, Edge edge, std::vector<bool>& refusing) {
  const auto [tail, head, capacity] = edges_[edge];
  const Capacity weight = growing.tree.weight;
  const Capacity others = std::accumulate(state.left.begin(), state.left.end(), Capacity{0}) - weight;
  const std::size_t to_hub = edges_.size() + static_cast<std::size_t>(tail);
  flows_.set_capacity(to_hub, others);
  flows_.clear();
  flows_.set_capacity(to_hub, 0);
  const Capacity flow = flows_.push(tail, head, others + weight);
  if (flow <= others)
    for (NodeId host = 0; host < hosts_; ++host) refusing[static_cast<std::size_t>(host)] = flows_.is_reached(host);
  return std::max<Capacity>(flow - others, 0);
}

PackedTree TreeGrowth::exactly(const PackingState& state, KnownCuts& cuts, NodeId root) {
  Growing growing = begin(cuts, root, state.left[static_cast<std::size_t>(root)]);
  set_flows(state, growing);
  std::vector<bool> refusing(static_cast<std::size_t>(hosts_));
  std::vector<std::vector<bool>> refusals;  // become known when the tree is done
  const auto is_refused = [&](Edge edge) {
    return std::ranges::any_of(refusals, [&](const std::vector<bool>& inside) {
      return inside[static_cast<std::size_t>(edges_[edge].tail)] &&
             !inside[static_cast<std::size_t>(edges_[edge].head)];
    });
  };
  std::vector<Edge> waiting;
  const auto amount = [&](Edge edge) -> Capacity {
    const Capacity most =
        std::min({state.residual[edge], cuts.allowed(edges_[edge].tail, edges_[edge].head), growing.tree.weight});
    if (most == 0 || is_refused(edge)) return 0;
    const Capacity flow = safe(state, growing, edge, refusing);
    if (flow == 0) refusals.push_back(refusing);
    return std::min(most, flow);
  };
  const auto take = [&](Edge edge, Capacity weight) {
    if (weight < growing.tree.weight) refusals.clear();  // what the tree gives back widens cuts
    growing.tree.weight = weight;
    add(growing, cuts, edge);
    set_flows(state, growing);
  };
  while (growing.tree.edges.size() + 1 < static_cast<std::size_t>(hosts_)) {
    std::vector<NodeId> next;
    for (const Edge edge : candidates(growing, state)) {
      if (growing.covered[static_cast<std::size_t>(edges_[edge].head)]) continue;
      if (amount(edge) == growing.tree.weight) {
        take(edge, growing.tree.weight);
        next.push_back(edges_[edge].head);
      } else {
        waiting.push_back(edge);
      }
    }
    if (next.empty()) {
      std::erase_if(waiting, [&](Edge edge) { return growing.covered[static_cast<std::size_t>(edges_[edge].head)]; });
      Capacity most = 0;
      Edge best = 0;
      for (const Edge edge : waiting)
        if (const Capacity possible = amount(edge); possible > most) most = possible, best = edge;
      if (most == 0) throw Error("trees were to be packed that do not exist");
      take(best, most);
      next.push_back(edges_[best].head);
    }
    growing.level = std::move(next);
  }
  return std::move(growing.tree);
}

}  // namespace colltopo
