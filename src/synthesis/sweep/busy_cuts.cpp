// The threshold above which links count as busy is lowered step by step. Few links leave the network whole; many cut
// off single hosts, whose cuts prove little. In between lie the narrowest cuts, two of them and more where a network
// has lost links in several places; length on several cuts together proves the mean of what each of them proves.
#include "synthesis/sweep/busy_cuts.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "synthesis/sweep/arcs.h"

namespace colltopo::synthesis {

namespace {

constexpr int k_steps = 24;       // thresholds between the bound and the busiest link
constexpr int k_most_parts = 64;  // of a network that cuts divide

/// [link] whether it is busy for longer than `time`.
std::vector<bool> busy_links(const FlowInstance& instance, std::span<const double> loads, double time) {
  std::vector<bool> busy;
  busy.reserve(instance.link_class.size());
  for (const std::int32_t of_link : instance.link_class) {
    const auto e = static_cast<std::size_t>(of_link);
    busy.push_back(loads[e] > time * instance.class_capacity[e]);
  }
  return busy;
}

/// [node] the number of its part: nodes that reach each other over links that are not `closed`. Empty when there are
/// more than k_most_parts.
std::vector<int> parts_without(const Topology& topology, const std::vector<bool>& closed) {
  std::vector<int> part(static_cast<std::size_t>(topology.nodes()), -1);
  int parts = 0;
  for (NodeId node = 0; node < topology.nodes(); ++node) {
    if (part[static_cast<std::size_t>(node)] >= 0) continue;
    if (parts == k_most_parts) return {};
    const std::vector<bool> forward = reached(topology, node, false, closed);
    const std::vector<bool> backward = reached(topology, node, true, closed);
    for (std::size_t other = 0; other < part.size(); ++other)
      if (forward[other] && backward[other]) part[other] = parts;
    ++parts;
  }
  return part;
}

/// [class] 1 over the capacity where a closed link leads from one part of the network to another.
std::vector<double> cut_lengths(const FlowInstance& instance, const std::vector<bool>& closed,
                                const std::vector<int>& part) {
  std::vector<double> lengths(instance.class_capacity.size(), 0);
  for (std::size_t link = 0; link < instance.link_class.size(); ++link) {
    const Link& ends = instance.topology->link(static_cast<LinkId>(link));
    const auto e = static_cast<std::size_t>(instance.link_class[link]);
    if (closed[link] && part[static_cast<std::size_t>(ends.tail)] != part[static_cast<std::size_t>(ends.head)])
      lengths[e] = 1 / instance.class_capacity[e];
  }
  return lengths;
}

/// What such lengths prove, found on the parts alone: within one all distances are 0.
double cut_bound(const FlowInstance& instance, const std::vector<double>& lengths, const std::vector<int>& part) {
  const Topology& topology = *instance.topology;
  const auto parts = static_cast<std::size_t>(*std::max_element(part.begin(), part.end())) + 1;
  std::vector<double> hosts(parts, 0), distance(parts * parts, INFINITY);
  for (NodeId host = 0; host < topology.hosts(); ++host)
    hosts[static_cast<std::size_t>(part[static_cast<std::size_t>(host)])] += 1;
  for (std::size_t i = 0; i < parts; ++i) distance[i * parts + i] = 0;
  for (std::size_t link = 0; link < instance.link_class.size(); ++link) {
    const Link& ends = topology.link(static_cast<LinkId>(link));
    const auto from = static_cast<std::size_t>(part[static_cast<std::size_t>(ends.tail)]);
    const auto to = static_cast<std::size_t>(part[static_cast<std::size_t>(ends.head)]);
    double& known = distance[from * parts + to];
    known = std::min(known, lengths[static_cast<std::size_t>(instance.link_class[link])]);
  }
  for (std::size_t via = 0; via < parts; ++via)
    for (std::size_t i = 0; i < parts; ++i)
      for (std::size_t j = 0; j < parts; ++j)
        distance[i * parts + j] =
            std::min(distance[i * parts + j], distance[i * parts + via] + distance[via * parts + j]);
  double sum = 0;
  for (std::size_t i = 0; i < parts; ++i)
    for (std::size_t j = 0; j < parts; ++j)
      // A switch that lost its links is a part without hosts, infinitely far from all: 0 * infinity is no number.
      if (hosts[i] > 0 && hosts[j] > 0) sum += hosts[i] * hosts[j] * distance[i * parts + j];
  return sum / std::inner_product(lengths.begin(), lengths.end(), instance.class_capacity.begin(), 0.0);
}

}  // namespace

Cut best_cut(const FlowInstance& instance, std::span<const double> loads, double time_lower, double time) {
  Cut best{{}, time_lower};
  for (int step = k_steps - 1; step >= 0; --step) {
    const std::vector<bool> busy = busy_links(instance, loads, time_lower + (time - time_lower) * step / k_steps);
    const std::vector<int> part = parts_without(*instance.topology, busy);
    if (part.empty()) break;  // and more parts with more links
    if (std::all_of(part.begin(), part.end(), [](int one) { return one == 0; })) continue;
    std::vector<double> lengths = cut_lengths(instance, busy, part);
    if (const double bound = cut_bound(instance, lengths, part); bound > best.time_lower)
      best = {std::move(lengths), bound};
  }
  return best;
}

}  // namespace colltopo::synthesis
