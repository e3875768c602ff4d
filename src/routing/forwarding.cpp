// Tables from routes, completed to trees, and the proof that they do what the routes say.
#include "colltopo/forwarding.h"
#include "base/index.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "colltopo/error.h"

namespace colltopo {

namespace {

constexpr std::size_t k_most_faults = 20;

void require_routes(const Schedule& schedule, const Topology& topology) {
  if (schedule.routes.empty())
    throw Error(fmt::format("{}: it has no routes, so the network chooses the way; expected a schedule with routes",
                            schedule.name));
  if (schedule.shape.ranks != topology.hosts())
    throw Error(fmt::format("{}: {} ranks; {} has {} hosts", schedule.name, schedule.shape.ranks, topology.name(),
                            topology.hosts()));
  if (!schedule.topology.empty() && schedule.topology != fingerprint(topology))
    throw Error(fmt::format("{}: its routes are those of topology {}; {} is {}", schedule.name, schedule.topology,
                            topology.name(), fingerprint(topology)));
}

/// Enters the route into its plane; false, and nothing is entered, when the plane already knows another way.
bool enter(const Route& route, const Topology& topology, ForwardingTables& tables) {
  for (const LinkId link : route.links) {
    const LinkId there = tables.link(route.lane, topology.link(link).tail, route.target);
    if (there >= 0 && there != link) return false;
  }
  for (const LinkId link : route.links) tables.set(route.lane, topology.link(link).tail, route.target, link);
  return true;
}

/// Nodes without an entry send to the neighbour that is the fewest hops from the target by this plane. Entries that are
/// there lead to the target already.
void complete(const Topology& topology, std::int32_t plane, NodeId target, ForwardingTables& tables) {
  std::vector<bool> arrives(index(topology.nodes()), false);
  std::vector<NodeId> open{target};  // by hops
  arrives[index(target)] = true;
  for (std::size_t next = 0; next < open.size(); ++next)
    for (const LinkId id : topology.links_in(open[next])) {
      const NodeId tail = topology.link(id).tail;
      const LinkId there = tables.link(plane, tail, target);
      if (arrives[index(tail)] || (there >= 0 && there != id)) continue;
      arrives[index(tail)] = true;
      tables.set(plane, tail, target, id);
      open.push_back(tail);
    }
}

using ExceptionKey = std::tuple<NodeId, Rank, Rank, Lane>;
ExceptionKey key_of(const ForwardingException& e) { return {e.node, e.source, e.target, e.lane}; }

class Faults {
 public:
  template <typename... Arguments>
  void add(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
    if (!full()) found.push_back(fmt::format(text, std::forward<Arguments>(arguments)...));
  }
  bool full() const { return found.size() >= k_most_faults; }
  std::vector<std::string> found;
};

/// Where a node sends what goes from source to target in a plane.
LinkId forwarded(const ForwardingTables& tables, NodeId node, Rank source, Rank target, Lane lane) {
  const ExceptionKey key{node, source, target, lane};
  const auto found = std::ranges::lower_bound(tables.exceptions, key, {}, key_of);
  if (found != tables.exceptions.end() && key_of(*found) == key) return found->link;
  return tables.link(lane, node, target);
}

void follow(const Route& route, const Topology& topology, const ForwardingTables& tables, Faults& faults) {
  NodeId node = route.source;
  for (const LinkId expected : route.links) {
    const LinkId link = forwarded(tables, node, route.source, route.target, route.lane);
    if (link != expected)
      return faults.add("lane {} from {} to {}: {} sends it by {}; its route takes {}", route.lane,
                        topology.node_name(route.source), topology.node_name(route.target), topology.node_name(node),
                        link < 0 ? "no link" : topology.link_name(link), topology.link_name(expected));
    node = topology.link(link).head;
  }
}

/// Every node of a plane reaches the target: each is walked from once, until a node that is known to arrive.
void check_tree(const Topology& topology, const ForwardingTables& tables, std::int32_t plane, NodeId target,
                const std::vector<int>& distance_to, Faults& faults) {
  enum class Seen : std::uint8_t { no, now, arrives };
  std::vector<Seen> seen(index(topology.nodes()), Seen::no);
  seen[index(target)] = Seen::arrives;
  std::vector<NodeId> walk;
  for (NodeId start = 0; start < topology.nodes(); ++start) {
    NodeId node = start;
    walk.clear();
    while (seen[index(node)] == Seen::no) {
      const LinkId link = tables.link(plane, node, target);
      if (link < 0) {
        if (distance_to[index(node)] >= 0)
          faults.add("plane {}: {} has no link towards {}", plane, topology.node_name(node),
                     topology.node_name(target));
        break;
      }
      if (topology.link(link).tail != node)
        return faults.add("plane {}: {} sends towards {} by link {}, which begins at {}", plane,
                          topology.node_name(node), topology.node_name(target), topology.link_name(link),
                          topology.node_name(topology.link(link).tail));
      seen[index(node)] = Seen::now;
      walk.push_back(node);
      node = topology.link(link).head;
    }
    if (seen[index(node)] == Seen::now)
      return faults.add("plane {}: what {} sends towards {} goes round in a loop through {}", plane,
                        topology.node_name(start), topology.node_name(target), topology.node_name(node));
    for (const NodeId passed : walk) seen[index(passed)] = Seen::arrives;
  }
}

/// [node] hops to the target; -1: it cannot reach it.
std::vector<int> hops_to(const Topology& topology, NodeId target) {
  std::vector<int> hops(index(topology.nodes()), -1);
  std::vector<NodeId> open{target};
  hops[index(target)] = 0;
  for (std::size_t next = 0; next < open.size(); ++next)
    for (const LinkId link : topology.links_in(open[next]))
      if (const NodeId tail = topology.link(link).tail; hops[index(tail)] < 0) {
        hops[index(tail)] = hops[index(open[next])] + 1;
        open.push_back(tail);
      }
  return hops;
}

}  // namespace

ForwardingTables::ForwardingTables(NodeId nodes, NodeId hosts, std::int32_t planes)
    : nodes_(nodes), hosts_(hosts), planes_(planes), links_(index(nodes) * index(hosts) * index(planes), -1) {}

std::size_t ForwardingTables::entries() const {
  return links_.size() - static_cast<std::size_t>(std::ranges::count(links_, -1));
}

ForwardingTables forwarding_tables(const Schedule& schedule, const Topology& topology) {
  require_routes(schedule, topology);
  const std::int32_t planes = planes_in(schedule.routes);
  ForwardingTables tables(topology.nodes(), topology.hosts(), planes);
  for (const Route& route : schedule.routes)
    if (!enter(route, topology, tables))
      for (const LinkId link : route.links)
        tables.exceptions.push_back({route.source, route.target, route.lane, topology.link(link).tail, link});
  std::ranges::sort(tables.exceptions, {}, key_of);
  for (std::int32_t plane = 0; plane < planes; ++plane)
    for (NodeId target = 0; target < topology.hosts(); ++target) complete(topology, plane, target, tables);
  return tables;
}

std::vector<std::string> forwarding_faults(const Schedule& schedule, const Topology& topology,
                                           const ForwardingTables& tables) {
  Faults faults;
  if (tables.nodes() != topology.nodes() || tables.hosts() != topology.hosts()) {
    faults.add("tables of {} nodes and {} hosts; {} has {} and {}", tables.nodes(), tables.hosts(), topology.name(),
               topology.nodes(), topology.hosts());
    return faults.found;
  }
  for (const Route& route : schedule.routes) {
    if (route.lane >= tables.planes())
      faults.add("lane {} from {} to {}; the tables have planes 0..{}", route.lane, topology.node_name(route.source),
                 topology.node_name(route.target), tables.planes() - 1);
    else
      follow(route, topology, tables, faults);
  }
  for (NodeId target = 0; target < topology.hosts() && !faults.full(); ++target) {
    const std::vector<int> distance_to = hops_to(topology, target);
    for (std::int32_t plane = 0; plane < tables.planes(); ++plane)
      check_tree(topology, tables, plane, target, distance_to, faults);
  }
  return faults.found;
}

}  // namespace colltopo
