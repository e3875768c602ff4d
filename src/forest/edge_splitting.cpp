// Switches go in classes, those farthest from hosts first: switches of one class are alike, and for a whole class an
// even spread is guessed and then proved by flows. Where no guess is right switches go one by one, and where that fails
// too by exact amounts, pair by pair.

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include <fmt/format.h>

#include "colltopo/error.h"
#include "forest/parts.h"
#include "forest/safe_amount.h"
#include "forest/spanning_test.h"
#include "forest/split_guess.h"

namespace colltopo {

namespace {

using Relays = std::vector<NodeId>;

/// [node] links to the nearest host, either way; hosts 0.
std::vector<int> distances_to_hosts(const Topology& topology) {
  std::vector<int> distance(static_cast<std::size_t>(topology.nodes()), -1);
  std::vector<NodeId> queue;
  for (NodeId host = 0; host < topology.hosts(); ++host) {
    distance[static_cast<std::size_t>(host)] = 0;
    queue.push_back(host);
  }
  for (std::size_t next = 0; next < queue.size(); ++next)
    for (const LinkId link : topology.links_out(queue[next])) {
      int& there = distance[static_cast<std::size_t>(topology.link(link).head)];
      if (there >= 0) continue;
      there = distance[static_cast<std::size_t>(queue[next])] + 1;
      queue.push_back(topology.link(link).head);
    }
  return distance;
}

class SwitchRemoval {
 public:
  SwitchRemoval(const Topology& topology, const std::vector<Capacity>& of_link, std::span<const Capacity> roots,
                int threads)
      : topology_(topology), roots_(roots), threads_(threads), network_(topology, of_link) {
    for (NodeId node = 0; node < topology.nodes(); ++node)
      if (!unbalanced_ && total(network_.edges_into(node)) != total(network_.edges_out_of(node))) unbalanced_ = node;
  }

  std::vector<LogicalEdge> run() {
    for (const Relays& relays : classes())
      if (!guess(relays)) {
        for (const NodeId relay : relays)
          if (!guess({relay})) pair_exactly(relay);
      }
    return network_.logical_edges();
  }

 private:
  static Capacity total(const std::vector<CapacityEdge>& edges) {
    Capacity sum = 0;
    for (const CapacityEdge& edge : edges) sum += edge.capacity;
    return sum;
  }

  /// Switches of equal distance, ports and capacity; farthest first.
  std::vector<Relays> classes() const {
    const std::vector<int> distance = distances_to_hosts(topology_);
    std::map<std::tuple<int, std::size_t, Capacity>, Relays> classes;
    for (NodeId node = topology_.hosts(); node < topology_.nodes(); ++node) {
      const std::vector<CapacityEdge> edges = network_.edges_into(node);
      classes[{-distance[static_cast<std::size_t>(node)], edges.size(), total(edges)}].push_back(node);
    }
    std::vector<Relays> list;
    list.reserve(classes.size());
    for (auto& [key, relays] : classes) list.push_back(std::move(relays));
    return list;
  }

  bool trees_exist_in(const SplitNetwork& network) const {
    const std::vector<CapacityEdge> edges = network.edges();
    return trees_exist({topology_.hosts(), topology_.nodes(), edges, roots_}, threads_);
  }

  bool guess(const Relays& relays) {
    const std::vector<NodeId> part_of = parts_without(network_, relays);
    for (const Spread over : {Spread::other_ports, Spread::other_parts}) {
      SplitNetwork after = network_;
      for (const NodeId relay : relays) {
        for (const Splitting& splitting : spread(after, relay, over, part_of)) after.split(relay, splitting);
        after.isolate(relay);
      }
      if (!trees_exist_in(after)) continue;
      network_ = std::move(after);
      return true;
    }
    return false;
  }

  /// First as much of an even spread as is safe, then all that is.
  void pair_exactly(NodeId relay) {
    SafeAmounts safe(network_, relay, roots_);
    const auto split = [&](NodeId from, NodeId to, Capacity most) {
      const Splitting splitting{from, to, safe.amount(from, to, most)};
      if (splitting.amount == 0) return;
      safe.split(splitting);
      network_.split(relay, splitting);
    };
    const std::vector<NodeId> part_of = parts_without(network_, {relay});
    for (const Splitting& wanted : spread(network_, relay, Spread::other_parts, part_of))
      if (wanted.from != wanted.to) split(wanted.from, wanted.to, wanted.amount);
    for (const CapacityEdge& out : network_.edges_out_of(relay)) {
      for (const CapacityEdge& in : network_.edges_into(relay))
        if (in.tail != out.head) split(in.tail, out.head, network_.capacity(relay, out.head));
      if (network_.capacity(out.head, relay) > 0) split(out.head, out.head, network_.capacity(relay, out.head));
    }
    network_.isolate(relay);
    if (!trees_exist_in(network_)) refuse(relay);
  }

  [[noreturn]] void refuse(NodeId relay) const {
    const NodeId node = unbalanced_.value_or(relay);
    throw Error(
        fmt::format("{}: switch {} cannot be replaced by links between its neighbours without loss, because the "
                    "bandwidths into and "
                    "out of {} differ; trees through switches need as much bandwidth into every node as out of it",
                    topology_.name(), topology_.node_name(relay), topology_.node_name(node)));
  }

  const Topology& topology_;
  std::span<const Capacity> roots_;
  int threads_;
  SplitNetwork network_;
  std::optional<NodeId> unbalanced_;
};

}  // namespace

std::vector<LogicalEdge> without_switches(const Topology& topology, const std::vector<Capacity>& of_link,
                                          std::span<const Capacity> roots, int threads) {
  return SwitchRemoval(topology, of_link, roots, threads).run();
}

}  // namespace colltopo
