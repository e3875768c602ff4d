// One pass over the sections of a schedule: each worker adds up what its ranks put on links, in chunks, so that the
// sums are the same for any number of workers.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "analysis/route_checks.h"
#include "base/index.h"
#include "base/parallel.h"
#include "colltopo/layers.h"
#include "colltopo/verify_sections.h"

namespace colltopo {

namespace {

using analysis::Violations;

constexpr std::int32_t k_most_layers = 1024;  // each takes memory for all links

/// What messages of one step amount to.
struct StepSums {
  std::vector<std::int64_t> chunks;     // [link]
  std::vector<std::uint32_t> messages;  // [link]
  std::vector<std::uint32_t> received;  // [rank] messages
  std::size_t sent = 0, most_sent = 0;  // messages, and of a rank
  double longest_latency_s = 0;

  void add(const StepSums& other) {
    for (std::size_t link = 0; link < chunks.size(); ++link) chunks[link] += other.chunks[link];
    for (std::size_t link = 0; link < messages.size(); ++link) messages[link] += other.messages[link];
    for (std::size_t rank = 0; rank < received.size(); ++rank) received[rank] += other.received[rank];
    sent += other.sent;
    most_sent = std::max(most_sent, other.most_sent);
    longest_latency_s = std::max(longest_latency_s, other.longest_latency_s);
  }
};

/// [link] the links that routes of one layer take behind it, in increasing order.
using Followers = std::vector<std::vector<LinkId>>;

void follow(Followers& followers, LinkId held, LinkId wanted) {
  std::vector<LinkId>& known = followers[index(held)];
  const auto place = std::ranges::lower_bound(known, wanted);
  if (place == known.end() || *place != wanted) known.insert(place, wanted);
}

struct Sums {
  std::map<Step, StepSums> steps;
  std::map<std::int32_t, Followers> layers;
  std::size_t routes = 0;
  std::int32_t planes = 0;
  bool neighbours_only = true;
};

class Pass {
 public:
  Pass(const SectionedSchedule& schedule, const Topology& topology)
      : schedule_(schedule), topology_(topology), shortest_(topology), faults_(index(schedule.facts.shape.ranks)) {}

  Sums run() {
    // Shortest paths are kept as they are found, by one at a time.
    const int threads = schedule_.has_routes ? schedule_.threads : 1;
    std::vector<Sums> sums(worker_count(threads, faults_.size()));
    for_each_index(faults_.size(), static_cast<int>(sums.size()),
                   [&](std::size_t rank, unsigned worker) { add_rank(static_cast<Rank>(rank), sums[worker]); });
    Sums all = std::move(sums.front());
    for (std::size_t worker = 1; worker < sums.size(); ++worker) merge(sums[worker], all);
    return all;
  }

  std::vector<Violation> violations() {
    std::vector<Violation> all;
    for (Violations& of_rank : faults_)
      for (Violation& violation : of_rank.take())
        if (all.size() < Violations::k_most) all.push_back(std::move(violation));
    return all;
  }

 private:
  void merge(const Sums& from, Sums& to) const {
    for (const auto& [step, sums] : from.steps) at(to, step).add(sums);
    for (const auto& [layer, followers] : from.layers) {
      Followers& known = of_layer(to, layer);
      for (std::size_t held = 0; held < followers.size(); ++held)
        for (const LinkId wanted : followers[held]) follow(known, static_cast<LinkId>(held), wanted);
    }
    to.routes += from.routes;
    to.planes = std::max(to.planes, from.planes);
    to.neighbours_only = to.neighbours_only && from.neighbours_only;
  }

  StepSums& at(Sums& sums, Step step) const {
    const auto [found, is_new] = sums.steps.try_emplace(step);
    if (is_new) {
      found->second.chunks.assign(topology_.links().size(), 0);
      found->second.messages.assign(topology_.links().size(), 0);
      found->second.received.assign(faults_.size(), 0);
    }
    return found->second;
  }

  Followers& of_layer(Sums& sums, std::int32_t layer) const {
    return sums.layers.try_emplace(layer, topology_.links().size()).first->second;
  }

  /// Routes that may be followed; none when something is wrong with them.
  std::vector<Route> checked_routes(Rank rank) {
    if (!schedule_.has_routes) return {};
    Violations& faults = faults_[index(rank)];
    std::vector<Route> routes = schedule_.routes(rank);
    const Route* before = nullptr;
    const auto key = [](const Route& route) { return std::pair(route.target, route.lane); };
    for (const Route& route : routes) {
      if (route.source != rank || route.target < 0 || route.target >= schedule_.facts.shape.ranks)
        faults.add(rank, "a route from {} to {}; ranks are 0..{}", route.source, route.target,
                   schedule_.facts.shape.ranks - 1);
      else if (before != nullptr && key(*before) >= key(route))
        faults.add(rank, "the route to {} on lane {} stands behind that to {} on lane {}; expected increasing order",
                   route.target, route.lane, before->target, before->lane);
      else if (route.layer < 0 || route.layer >= k_most_layers)
        faults.add(rank, "the route to {} on lane {} is in layer {}; expected 0..{}", route.target, route.lane,
                   route.layer, k_most_layers - 1);
      else
        analysis::check_route(route, topology_, faults);
      before = &route;
    }
    if (!faults.empty()) routes.clear();
    return routes;
  }

  void add_rank(Rank rank, Sums& sums) {
    const std::vector<Route> routes = checked_routes(rank);
    Followers* followers = nullptr;
    std::int32_t layer = -1;
    for (const Route& route : routes) {
      ++sums.routes;
      sums.planes = std::max(sums.planes, route.lane + 1);
      if (followers == nullptr || route.layer != layer) followers = &of_layer(sums, layer = route.layer);
      for (std::size_t i = 1; i < route.links.size(); ++i) follow(*followers, route.links[i - 1], route.links[i]);
    }
    if (faults_[index(rank)].empty()) add_messages(rank, routes, sums);
  }

  void add_messages(Rank rank, const std::vector<Route>& routes, Sums& sums) {
    const Program program = schedule_.program(rank);
    std::map<Step, std::size_t> sent;
    StepSums* step = nullptr;
    Step number = -1;
    for (std::size_t i = 0; i < program.size(); ++i) {
      const Op op = program.op(i);
      if (op.action != Action::send) continue;
      if (step == nullptr || op.step != number) step = &at(sums, number = op.step);
      ++sent[op.step];
      ++step->received[index(op.peer)];
      add_message(rank, op, routes, *step, sums);
    }
    for (const auto& [of_step, count] : sent) {
      StepSums& all = at(sums, of_step);
      all.sent += count;
      all.most_sent = std::max(all.most_sent, count);
    }
  }

  void add_message(Rank rank, const Op& op, const std::vector<Route>& routes, StepSums& step, Sums& sums) {
    std::vector<LinkId> shortest;
    std::span<const LinkId> path;
    if (schedule_.has_routes) {
      const auto found = std::ranges::lower_bound(routes, std::pair(op.peer, op.lane), {}, [](const Route& route) {
        return std::pair(route.target, route.lane);
      });
      if (found == routes.end() || found->target != op.peer || found->lane != op.lane)
        return faults_[index(rank)].add(rank, "no route to {} on lane {}, which step {} uses", op.peer, op.lane,
                                        op.step);
      path = found->links;
    } else {
      try {
        shortest = shortest_.path(rank, op.peer);
      } catch (const Error&) {
        return faults_[index(rank)].add(rank, "no path to {}, to which step {} sends", op.peer, op.step);
      }
      path = shortest;
    }
    const Chunk chunks = chunks_in(op.source);
    double latency_s = 0;
    for (std::size_t i = 0; i < path.size(); ++i) {
      const std::size_t link = index(path[i]);
      step.chunks[link] += chunks;
      ++step.messages[link];
      latency_s += topology_.link(path[i]).latency;
      if (i + 1 < path.size() && topology_.is_host(topology_.link(path[i]).head)) sums.neighbours_only = false;
    }
    step.longest_latency_s = std::max(step.longest_latency_s, latency_s);
  }

  const SectionedSchedule& schedule_;
  const Topology& topology_;
  ShortestPaths shortest_;
  std::vector<Violations> faults_;  // [rank]
};

/// The busiest link and its seconds per byte; the lowest number of equals; -1 when nothing uses a link.
LinkId busiest_of(const std::vector<std::int64_t>& chunks, double chunks_of_call, const Topology& topology,
                  double& seconds_per_byte) {
  LinkId busiest = -1;
  for (std::size_t link = 0; link < chunks.size(); ++link) {
    const double seconds = static_cast<double>(chunks[link]) / chunks_of_call / topology.links()[link].bandwidth;
    if (chunks[link] == 0 || (busiest >= 0 && seconds <= seconds_per_byte)) continue;
    busiest = static_cast<LinkId>(link);
    seconds_per_byte = seconds;
  }
  return busiest;
}

Cost cost_of(const Sums& sums, const Shape& shape, const Topology& topology, std::vector<double>& loads) {
  Cost cost;
  const double chunks = chunks_in_count(shape);
  std::vector<std::int64_t> all(topology.links().size(), 0);
  for (const auto& [number, sum] : sums.steps) {
    StepCost step;
    step.step = number;
    step.messages = sum.sent;
    step.most_messages_of_a_rank = std::max<std::size_t>(sum.most_sent, *std::ranges::max_element(sum.received));
    if (!sum.messages.empty()) step.most_messages_on_a_link = *std::ranges::max_element(sum.messages);
    step.longest_latency_s = sum.longest_latency_s;
    step.busiest_link = busiest_of(sum.chunks, chunks, topology, step.busiest_link_s_per_byte);
    for (std::size_t link = 0; link < all.size(); ++link) all[link] += sum.chunks[link];
    cost.messages += sum.sent;
    cost.steps.push_back(step);
  }
  cost.busiest_link = busiest_of(all, chunks, topology, cost.busiest_link_s_per_byte);
  cost.neighbours_only = sums.neighbours_only;
  for (const std::int64_t load : all) loads.push_back(static_cast<double>(load) / chunks);
  return cost;
}

/// Two links of a layer, one behind the other, are a route as good as any.
LinkId waiting_in_a_cycle(const Followers& followers, const Topology& topology) {
  std::vector<std::array<LinkId, 2>> pairs;
  for (std::size_t held = 0; held < followers.size(); ++held)
    for (const LinkId wanted : followers[held]) pairs.push_back({static_cast<LinkId>(held), wanted});
  const std::vector<std::span<const LinkId>> routes(pairs.begin(), pairs.end());
  return link_in_cycle(topology, RouteLinks(routes));
}

}  // namespace

SectionsOn examine_on(const SectionedSchedule& schedule, const Topology& topology, Fabric fabric) {
  SectionsOn found;
  const Schedule& facts = schedule.facts;
  const auto add = [&](std::string what) {
    if (found.violations.size() < Violations::k_most) found.violations.push_back({-1, -1, std::move(what)});
  };
  if (facts.shape.ranks != topology.hosts()) {
    add(fmt::format("{} ranks; {} has {} hosts", facts.shape.ranks, topology.name(), topology.hosts()));
    return found;
  }
  if (schedule.has_routes && !facts.topology.empty() && facts.topology != fingerprint(topology))
    add(fmt::format("its routes are those of topology {}; {} is {}", facts.topology, topology.name(),
                    fingerprint(topology)));
  Pass pass(schedule, topology);
  const Sums sums = pass.run();
  for (Violation& violation : pass.violations()) {
    if (found.violations.size() < Violations::k_most) found.violations.push_back(std::move(violation));
  }
  found.routes = sums.routes;
  found.planes = sums.planes;
  for (const auto& [layer, followers] : sums.layers) {
    found.layers.insert(layer);
    if (fabric == Fabric::lossy || !found.violations.empty()) continue;
    if (const LinkId link = waiting_in_a_cycle(followers, topology); link >= 0)
      add(
          fmt::format("layer {}: routes wait for each other in a cycle behind link {} ({}); a lossless network can "
                      "deadlock",
                      layer, link, topology.link_name(link)));
  }
  if (found.violations.empty()) found.cost = cost_of(sums, facts.shape, topology, found.loads);
  return found;
}

}  // namespace colltopo
