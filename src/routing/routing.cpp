// Weighted paths between all hosts, their loads, and what may be wrong with them.
#include "colltopo/routing.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include <fmt/format.h>

namespace colltopo {

namespace {

constexpr std::uint64_t pair_of(NodeId source, NodeId target) {
  return static_cast<std::uint64_t>(source) << 32 | static_cast<std::uint32_t>(target);
}

/// "" or why the links are no simple path of the pair. `seen` is -1 everywhere before and after.
std::string path_fault(const Topology& topology, const WeightedPath& path, std::vector<int>& seen) {
  std::string fault;
  NodeId at = path.source;
  std::vector<NodeId> visited{at};
  seen[static_cast<std::size_t>(at)] = 0;
  for (const LinkId link : path.links) {
    if (link < 0 || static_cast<std::size_t>(link) >= topology.links().size()) {
      fault = fmt::format("link {} does not exist", link);
      break;
    }
    if (topology.link(link).tail != at) {
      fault = fmt::format("link {} does not leave {}", topology.link_name(link), topology.node_name(at));
      break;
    }
    at = topology.link(link).head;
    if (seen[static_cast<std::size_t>(at)] == 0) {
      fault = fmt::format("{} is visited twice", topology.node_name(at));
      break;
    }
    seen[static_cast<std::size_t>(at)] = 0;
    visited.push_back(at);
  }
  if (fault.empty() && at != path.target) fault = fmt::format("it ends at {}", topology.node_name(at));
  for (const NodeId node : visited) seen[static_cast<std::size_t>(node)] = -1;
  return fault;
}

}  // namespace

WeightedPath Routing::path(std::size_t index) const {
  const std::size_t first = first_link_[index];
  return {static_cast<NodeId>(pairs_[index] >> 32), static_cast<NodeId>(pairs_[index] & 0xffffffffU), weights_[index],
          std::span(links_).subspan(first, first_link_[index + 1] - first)};
}

void Routing::reserve(std::size_t paths, std::size_t links) {
  pairs_.reserve(paths);
  weights_.reserve(paths);
  first_link_.reserve(paths + 1);
  links_.reserve(links);
}

void Routing::add(NodeId source, NodeId target, double weight, std::span<const LinkId> links) {
  const std::uint64_t pair = pair_of(source, target);
  assert(pairs_.empty() || pairs_.back() <= pair);
  pairs_.push_back(pair);
  weights_.push_back(weight);
  links_.insert(links_.end(), links.begin(), links.end());
  first_link_.push_back(links_.size());
}

std::vector<double> capacities(const Topology& topology) {
  std::vector<double> capacities;
  capacities.reserve(topology.links().size());
  for (const Link& link : topology.links()) capacities.push_back(link.bandwidth / topology.slowest_bandwidth());
  return capacities;
}

std::vector<double> link_loads(const Topology& topology, const Routing& routing) {
  std::vector<double> loads(topology.links().size(), 0);
  for (std::size_t i = 0; i < routing.paths(); ++i) {
    const WeightedPath path = routing.path(i);
    for (const LinkId link : path.links) loads[static_cast<std::size_t>(link)] += path.weight;
  }
  return loads;
}

double all_to_all_time(const Topology& topology, std::span<const double> loads) {
  const std::vector<double> capacity = capacities(topology);
  double time = 0;
  for (std::size_t link = 0; link < loads.size(); ++link) time = std::max(time, loads[link] / capacity[link]);
  return time;
}

std::string routing_fault(const Topology& topology, const Routing& routing, double tolerance) {
  if (routing.hosts() != topology.hosts())
    return fmt::format("a routing of {} hosts; {} has {}", routing.hosts(), topology.name(), topology.hosts());
  std::vector<int> seen(static_cast<std::size_t>(topology.nodes()), -1);
  std::size_t next = 0;
  for (NodeId source = 0; source < topology.hosts(); ++source)
    for (NodeId target = 0; target < topology.hosts(); ++target) {
      if (source == target) continue;
      const auto pair = [&] { return fmt::format("{} to {}", topology.node_name(source), topology.node_name(target)); };
      double sum = 0;
      for (; next < routing.paths(); ++next) {
        const WeightedPath path = routing.path(next);
        if (path.source != source || path.target != target) break;
        if (!(path.weight > 0)) return fmt::format("{}: a path of weight {}", pair(), path.weight);
        if (const std::string fault = path_fault(topology, path, seen); !fault.empty())
          return fmt::format("{}: {}", pair(), fault);
        sum += path.weight;
      }
      if (!(std::abs(sum - 1) <= tolerance)) return fmt::format("{}: weights sum to {}, not 1", pair(), sum);
    }
  if (next != routing.paths()) return "paths of a host to itself";
  return "";
}

}  // namespace colltopo
