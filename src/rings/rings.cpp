// The two algorithms that look at every switch once, and what all rings share (Faraj et al., 4.1 and 4.2.1).
#include <algorithm>

#include <fmt/format.h>

#include "algorithms/from_allgather.h"
#include "algorithms/ring.h"
#include "colltopo/error.h"
#include "colltopo/rings.h"
#include "rings/sequences.h"

namespace colltopo {

namespace {

constexpr RingMethod k_methods[] = {
    {"lr1", "logical ring by a depth-first walk (Faraj, Patarasuk, Yuan, Algorithm 1)", lr1_order},
    {"lr2", "logical ring of paths over at most 2 switches, where there is one (Algorithm 2)", lr2_order},
    {"lr3", "logical ring with the shortest longest path (Algorithm 3)", lr3_order},
};

void add_routes(std::vector<Route>& routes, const SpanningTree& tree, std::span<const Rank> order, bool backwards) {
  for (std::size_t place = 0; place < order.size(); ++place) {
    Rank source = order[place], target = order[(place + 1) % order.size()];
    if (backwards) std::swap(source, target);
    routes.push_back({source, target, 0, 0, tree.path(source, target)});
  }
}

/// A route per pair of neighbours on the ring, in the directions in which the collective sends.
std::vector<Route> ring_routes(Collective collective, const SpanningTree& tree, std::span<const Rank> order) {
  std::vector<Route> routes;
  if (order.size() < 2) return routes;
  if (row(collective).spreads) add_routes(routes, tree, order, false);
  if (row(collective).combines) add_routes(routes, tree, order, true);
  const auto ends = [](const Route& route) { return std::pair(route.source, route.target); };
  std::sort(routes.begin(), routes.end(), [&](const Route& a, const Route& b) { return ends(a) < ends(b); });
  // On a ring of two both directions are the same pairs.
  const auto repeated = std::unique(routes.begin(), routes.end());
  routes.erase(repeated, routes.end());
  return routes;
}

}  // namespace

std::span<const RingMethod> ring_methods() { return k_methods; }

const RingMethod* ring_method_named(std::string_view name) {
  for (const RingMethod& method : k_methods)
    if (method.name == name) return &method;
  return nullptr;
}

std::vector<Rank> ring_of(const SpanningTree& tree, const Sequences& sequences) {
  struct Visit {
    std::int32_t at = 0;
    std::size_t next = 0;
  };
  std::vector<Rank> order;
  order.reserve(tree.machines.size());
  std::vector<Visit> stack{{}};
  while (!stack.empty()) {
    Visit& visit = stack.back();
    const std::vector<Item>& sequence = sequences[static_cast<std::size_t>(visit.at)];
    if (visit.next == sequence.size()) {
      stack.pop_back();
      continue;
    }
    const Item item = sequence[visit.next++];
    if (item.subtree >= 0)
      stack.push_back({item.subtree});
    else
      order.push_back(item.machine);
  }
  return order;
}

std::vector<Rank> lr1_order(const Topology&, const SpanningTree& tree) {
  std::vector<Rank> order;
  order.reserve(tree.machines.size());
  for (const TreeSwitch& own : tree.switches) order.insert(order.end(), own.machines.begin(), own.machines.end());
  return order;
}

std::optional<std::int32_t> two_hop_obstacle(const SpanningTree& tree) {
  for (std::size_t at = 0; at < tree.switches.size(); ++at) {
    const TreeSwitch& own = tree.switches[at];
    if (own.machines.size() < own.children.size() + (own.parent >= 0 ? 1 : 0)) return static_cast<std::int32_t>(at);
  }
  return std::nullopt;
}

std::vector<Rank> lr2_order(const Topology& topology, const SpanningTree& tree) {
  if (const auto obstacle = two_hop_obstacle(tree)) {
    const TreeSwitch& own = tree.switches[static_cast<std::size_t>(*obstacle)];
    throw Error(
        fmt::format("{}: on the tree, switch {} has {} machines and {} switches beside it; a 2-hop ring needs at least "
                    "as many machines as switches (Theorem 2); lr3 finds the shortest paths there are",
                    topology.name(), topology.node_name(own.node), own.machines.size(),
                    own.children.size() + (own.parent >= 0 ? 1 : 0)));
  }
  // m0 t0 m1 t1 ..: a machine before every subtree and, but at the root, one after the last.
  Sequences sequences(tree.switches.size());
  for (std::size_t at = 0; at < tree.switches.size(); ++at) {
    const TreeSwitch& own = tree.switches[at];
    for (std::size_t i = 0; i < own.machines.size(); ++i) {
      sequences[at].push_back({.machine = own.machines[i]});
      if (i < own.children.size()) sequences[at].push_back({.subtree = own.children[i]});
    }
  }
  return ring_of(tree, sequences);
}

RingFacts facts_of(const SpanningTree& tree, std::span<const Rank> order) {
  RingFacts facts;
  std::vector<int> uses;
  for (std::size_t place = 0; place < order.size(); ++place) {
    const Rank source = order[place], target = order[(place + 1) % order.size()];
    facts.longest_path = std::max(facts.longest_path, tree.path_length(source, target));
    for (const LinkId link : tree.path(source, target)) {
      const auto index = static_cast<std::size_t>(link);
      if (uses.size() <= index) uses.resize(index + 1, 0);
      facts.most_uses_of_a_link = std::max(facts.most_uses_of_a_link, ++uses[index]);
    }
  }
  return facts;
}

Schedule ring_schedule(std::string name, Collective collective, const Topology& topology, const SpanningTree& tree,
                       std::span<const Rank> order) {
  if (!row(collective).made_of_trees() || rooted(collective))
    throw Error(fmt::format("{} does not do {}; it does: allgather reduce_scatter allreduce", name,
                            colltopo::name(collective)));
  const Shape shape{collective, topology.hosts(), 1, 0};
  Schedule schedule = schedule_of(std::move(name), shape, [&](Rank rank) {
    return from_allgather(collective, ring_allgather(allgather_shape(shape), rank, order), shape.ranks - 1);
  });
  schedule.routes = ring_routes(collective, tree, order);
  schedule.topology = fingerprint(topology);
  schedule.topology_name = topology.name();
  return schedule;
}

}  // namespace colltopo
