#include "prepare/turned_round.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace colltopo::prepare {

namespace {

/// [link] the one the other way, parallel ones in their order; empty when some link has none as wide.
std::vector<LinkId> opposites(const Topology& network) {
  std::map<std::tuple<NodeId, NodeId, double>, std::vector<LinkId>> between;
  const auto links = static_cast<LinkId>(network.links().size());
  for (LinkId id = 0; id < links; ++id) {
    const Link& link = network.link(id);
    between[{link.tail, link.head, link.bandwidth}].push_back(id);
  }
  std::vector<LinkId> opposite(network.links().size(), -1);
  for (const auto& [ends, ids] : between) {
    const auto& [tail, head, bandwidth] = ends;
    const auto back = between.find({head, tail, bandwidth});
    if (back == between.end() || back->second.size() != ids.size()) return {};
    for (std::size_t i = 0; i < ids.size(); ++i) opposite[static_cast<std::size_t>(ids[i])] = back->second[i];
  }
  return opposite;
}

/// Its trees with every route the other way; routes are sorted again, and lanes of a pair numbered.
Packing reversed(const Packing& out, const std::vector<LinkId>& opposite) {
  Packing in = out;
  for (Route& route : in.routes) {
    std::swap(route.source, route.target);
    std::ranges::reverse(route.links);
    for (LinkId& link : route.links) link = opposite[static_cast<std::size_t>(link)];
  }
  std::vector<std::int32_t> order(in.routes.size()), place(in.routes.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::int32_t at) {
    const Route& route = in.routes[static_cast<std::size_t>(at)];
    return std::tuple(route.source, route.target, route.lane);
  });
  std::vector<Route> sorted;
  for (std::size_t i = 0; i < order.size(); ++i) {
    place[static_cast<std::size_t>(order[i])] = static_cast<std::int32_t>(i);
    sorted.push_back(std::move(in.routes[static_cast<std::size_t>(order[i])]));
  }
  in.routes = std::move(sorted);
  for (TreePart& part : in.parts) part.route = place[static_cast<std::size_t>(part.route)];
  return in;
}

}  // namespace

std::optional<Forest> turned_round(const Forest& allgather, const Topology& network, Collective collective) {
  const std::vector<LinkId> opposite = opposites(network);
  if (opposite.empty()) return std::nullopt;
  Forest forest = allgather;
  forest.collective = collective;
  forest.in = reversed(allgather.out, opposite);
  if (collective == Collective::reduce_scatter) {
    forest.out = {};
  } else {
    // Both halves, each of the vector over the hosts.
    forest.seconds_per_byte = 2 * allgather.seconds_per_byte / static_cast<double>(allgather.roots.size());
  }
  return forest;
}

}  // namespace colltopo::prepare
