// Trees are grown within the cuts that are known to be narrow, without any flow, and what came of it is proved by one
// least cut every so often: at the end none is needed, because all trees are there. Where growth ends, or the
// proof fails by a cut that then becomes known, packing goes back to where it was last proved possible and on in
// smaller strides; a tree that fails again is grown exactly, by a flow for every edge.
#include "forest/tree_packing.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "forest/spanning_test.h"
#include "forest/tree_growth.h"

namespace colltopo {

namespace {

/// Around every host the smallest set that no more can enter than must: all hosts but these are a cut.
std::vector<std::vector<bool>> narrowest_cuts(NodeId hosts, std::span<const CapacityEdge> edges,
                                              std::span<const Capacity> roots) {
  std::vector<CapacityEdge> backwards;  // and a sink that all hosts' trees come from
  for (const CapacityEdge& edge : edges) backwards.push_back({edge.head, edge.tail, edge.capacity});
  for (NodeId host = 0; host < hosts; ++host) backwards.push_back({host, hosts, roots[static_cast<std::size_t>(host)]});
  const Capacity all = std::accumulate(roots.begin(), roots.end(), Capacity{0});
  MaxFlow network(hosts + 1, backwards);
  std::vector<std::vector<bool>> cuts;
  NodeId holder = hosts;
  for (NodeId host = 0; host < hosts; ++host) {
    network.push(host, holder, all);
    holder = host;
    network.push(host, hosts, 1);  // cannot: only to see how far it gets
    std::vector<bool> inside(static_cast<std::size_t>(hosts));
    NodeId outside = 0;
    for (NodeId node = 0; node < hosts; ++node) {
      inside[static_cast<std::size_t>(node)] = !network.is_reached(node);
      outside += network.is_reached(node) ? 1 : 0;
    }
    if (outside > 1 && outside < hosts) cuts.push_back(std::move(inside));
  }
  std::ranges::sort(cuts);
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  return cuts;
}

class TreePacking {
 public:
  TreePacking(NodeId hosts, std::span<const CapacityEdge> edges, std::span<const Capacity> roots)
      : hosts_(hosts), edges_(edges), cuts_(hosts, edges), growth_(hosts, edges) {
    for (const CapacityEdge& edge : edges) state_.residual.push_back(edge.capacity);
    state_.left.assign(roots.begin(), roots.end());
    for (const std::vector<bool>& inside : narrowest_cuts(hosts, edges, roots))
      cuts_.add(inside, state_.residual, state_.left);
  }

  std::vector<PackedTree> run() {
    proved_ = {state_, 0, cuts_.spare()};
    while (const std::optional<NodeId> root = next_root()) {
      std::optional<PackedTree> tree = growth_.by_known_cuts(state_, cuts_, *root);
      const bool stuck = !tree;
      if (tree) commit(std::move(*tree));
      if (!stuck && (packed_.size() - proved_.packed < stride_ || !next_root())) continue;
      if (prove()) {
        stride_ = stuck ? std::max<std::size_t>(1, stride_ / 2) : grown(stride_);
        if (stuck) pack_exactly(*next_root());
      }
    }
    return std::move(packed_);
  }

 private:
  struct Proved {
    PackingState state;
    std::size_t packed = 0;
    std::vector<Capacity> spare;
  };
  static constexpr std::size_t k_no_proofs = std::numeric_limits<std::size_t>::max();
  static constexpr int k_most_failures = 3;  // of the first tree after a proof

  static std::size_t grown(std::size_t stride) { return stride < k_no_proofs / 2 ? 2 * stride : stride; }

  std::optional<NodeId> next_root() const {
    const auto found = std::ranges::find_if(state_.left, [](Capacity left) { return left > 0; });
    if (found == state_.left.end()) return std::nullopt;
    return static_cast<NodeId>(found - state_.left.begin());
  }

  void commit(PackedTree tree) {
    cuts_.finish(tree.weight);
    for (const std::uint32_t edge : tree.edges) state_.residual[edge] -= tree.weight;
    state_.left[static_cast<std::size_t>(tree.root)] -= tree.weight;
    packed_.push_back(std::move(tree));
  }

  void pack_exactly(NodeId root) {
    commit(growth_.exactly(state_, cuts_, root));
    proved_ = {state_, packed_.size(), cuts_.spare()};
    failures_ = 0;
  }

  /// Whether the rest is possible; otherwise back to where it was.
  bool prove() {
    if (packed_.size() == proved_.packed) return true;
    std::vector<CapacityEdge> rest(edges_.begin(), edges_.end());
    for (std::size_t edge = 0; edge < rest.size(); ++edge) rest[edge].capacity = state_.residual[edge];
    const std::optional<std::vector<bool>> cut = worst_violated_cut({hosts_, hosts_, rest, state_.left});
    if (!cut) {
      proved_ = {state_, packed_.size(), cuts_.spare()};
      failures_ = 0;
      return true;
    }
    const std::size_t unproved = packed_.size() - proved_.packed;
    state_ = proved_.state;
    packed_.resize(proved_.packed);
    cuts_.restore(proved_.spare, state_.residual, state_.left);
    cuts_.add(*cut, state_.residual, state_.left);
    stride_ = std::max<std::size_t>(1, unproved / 2);
    if (unproved == 1 && ++failures_ == k_most_failures) pack_exactly(*next_root());
    return false;
  }

  NodeId hosts_;
  std::span<const CapacityEdge> edges_;
  PackingState state_;
  KnownCuts cuts_;
  TreeGrowth growth_;
  std::vector<PackedTree> packed_;
  Proved proved_;
  std::size_t stride_ = k_no_proofs;  // trees between proofs
  int failures_ = 0;
};

}  // namespace

std::vector<PackedTree> pack_trees(NodeId hosts, std::span<const CapacityEdge> edges, std::span<const Capacity> roots) {
  return TreePacking(hosts, edges, roots).run();
}

std::string packing_fault(NodeId hosts, std::span<const CapacityEdge> edges, std::span<const Capacity> roots,
                          std::span<const PackedTree> packing) {
  std::vector<Capacity> used(edges.size(), 0), rooted(static_cast<std::size_t>(hosts), 0);
  for (std::size_t i = 0; i < packing.size(); ++i) {
    const PackedTree& tree = packing[i];
    std::vector<bool> covered(static_cast<std::size_t>(hosts), false);
    covered[static_cast<std::size_t>(tree.root)] = true;
    rooted[static_cast<std::size_t>(tree.root)] += tree.weight;
    for (const std::uint32_t edge : tree.edges) {
      const auto [tail, head, capacity] = edges[edge];
      if (!covered[static_cast<std::size_t>(tail)] || covered[static_cast<std::size_t>(head)])
        return fmt::format("tree {} of root {} is no tree at edge {} -> {}", i, tree.root, tail, head);
      covered[static_cast<std::size_t>(head)] = true;
      used[edge] += tree.weight;
    }
    if (tree.edges.size() + 1 != static_cast<std::size_t>(hosts))
      return fmt::format("tree {} of root {} reaches {} of {} hosts", i, tree.root, tree.edges.size() + 1, hosts);
  }
  for (NodeId host = 0; host < hosts; ++host)
    if (const auto at = static_cast<std::size_t>(host); rooted[at] != roots[at])
      return fmt::format("host {} roots {} trees; expected {}", host, rooted[at], roots[at]);
  for (std::size_t edge = 0; edge < edges.size(); ++edge)
    if (used[edge] > edges[edge].capacity)
      return fmt::format("edge {} -> {} carries {} trees of {}", edges[edge].tail, edges[edge].head, used[edge],
                         edges[edge].capacity);
  return "";
}

}  // namespace colltopo
