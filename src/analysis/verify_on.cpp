// Whether a schedule fits a topology.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "colltopo/cost.h"

namespace colltopo {

namespace {

constexpr std::size_t k_most_violations = 20;

class Violations {
 public:
  template <typename... Arguments>
  void add(Rank rank, fmt::format_string<Arguments...> text, Arguments&&... arguments) {
    if (!full()) found_.push_back({rank, -1, fmt::format(text, std::forward<Arguments>(arguments)...)});
  }
  bool full() const { return found_.size() >= k_most_violations; }
  bool empty() const { return found_.empty(); }
  std::vector<Violation> take() { return std::move(found_); }

 private:
  std::vector<Violation> found_;
};

void check_route(const Route& route, const Topology& topology, Violations& violations) {
  const auto links = static_cast<LinkId>(topology.links().size());
  NodeId at = route.source;
  for (const LinkId id : route.links) {
    if (id < 0 || id >= links)
      return violations.add(route.source, "route to {} on lane {} takes link {}; the topology has links 0..{}",
                            route.target, route.lane, id, links - 1);
    if (topology.link(id).tail != at)
      return violations.add(route.source,
                            "route to {} on lane {} takes link {} ({}) from {}; links must follow each other",
                            route.target, route.lane, id, topology.link_name(id), topology.node_name(at));
    at = topology.link(id).head;
  }
  if (at != route.target)
    violations.add(route.source, "route to {} on lane {} ends at {}", route.target, route.lane, topology.node_name(at));
}

void check_messages_have_routes(const Schedule& schedule, Violations& violations) {
  std::set<std::tuple<Rank, Rank, Lane>> known;
  for (const Route& route : schedule.routes) known.insert({route.source, route.target, route.lane});
  for (const Message& message : messages_of(schedule))
    if (known.insert({message.source, message.target, message.lane}).second)
      violations.add(message.source, "no route to {} on lane {}, which step {} uses", message.target, message.lane,
                     message.step);
}

void check_reachable(const Schedule& schedule, const Topology& topology, Violations& violations) {
  std::vector<std::vector<int>> distances(static_cast<std::size_t>(topology.hosts()));
  for (const Message& message : messages_of(schedule)) {
    std::vector<int>& from = distances[static_cast<std::size_t>(message.source)];
    if (from.empty()) from = distances_from(topology, message.source);
    if (from[static_cast<std::size_t>(message.target)] < 0)
      violations.add(message.source, "no path to {}, to which step {} sends", message.target, message.step);
    if (violations.full()) return;
  }
}

// Kahn's algorithm on the graph whose nodes are links and whose arcs say "a message holds this link and waits for
// that".
void check_layer_is_acyclic(std::int32_t layer, const std::set<std::pair<LinkId, LinkId>>& waits,
                            const Topology& topology, Violations& violations) {
  std::map<LinkId, int> waited_for;
  for (const auto& [holds, wants] : waits) {
    waited_for.try_emplace(holds, 0);
    ++waited_for[wants];
  }
  std::vector<LinkId> free;
  for (const auto& [link, count] : waited_for)
    if (count == 0) free.push_back(link);
  std::size_t freed = 0;
  for (; freed < free.size(); ++freed) {
    const auto arcs = waits.lower_bound({free[freed], -1});
    for (auto arc = arcs; arc != waits.end() && arc->first == free[freed]; ++arc)
      if (--waited_for[arc->second] == 0) free.push_back(arc->second);
  }
  if (freed == waited_for.size()) return;
  const auto in_cycle =
      std::find_if(waited_for.begin(), waited_for.end(), [](const auto& entry) { return entry.second > 0; });
  violations.add(-1,
                 "layer {}: routes wait for each other in a cycle behind link {} ({}); a lossless network can deadlock",
                 layer, in_cycle->first, topology.link_name(in_cycle->first));
}

void check_layers(const Schedule& schedule, const Topology& topology, Violations& violations) {
  std::map<std::int32_t, std::set<std::pair<LinkId, LinkId>>> waits;
  for (const Route& route : schedule.routes)
    for (std::size_t i = 1; i < route.links.size(); ++i)
      waits[route.layer].insert({route.links[i - 1], route.links[i]});
  for (const auto& [layer, arcs] : waits) check_layer_is_acyclic(layer, arcs, topology, violations);
}

}  // namespace

std::vector<Violation> verify_on(const Schedule& schedule, const Topology& topology) {
  Violations violations;
  if (schedule.shape.ranks != topology.hosts()) {
    violations.add(-1, "{} ranks; {} has {} hosts", schedule.shape.ranks, topology.name(), topology.hosts());
    return violations.take();
  }
  if (schedule.routes.empty()) {
    check_reachable(schedule, topology, violations);
    return violations.take();
  }
  if (!schedule.topology.empty() && schedule.topology != fingerprint(topology))
    violations.add(-1, "its routes are those of topology {}; {} is {}", schedule.topology, topology.name(),
                   fingerprint(topology));
  for (const Route& route : schedule.routes) check_route(route, topology, violations);
  check_messages_have_routes(schedule, violations);
  // A route with unknown links has nothing to say about cycles.
  if (violations.empty()) check_layers(schedule, topology, violations);
  return violations.take();
}

}  // namespace colltopo
