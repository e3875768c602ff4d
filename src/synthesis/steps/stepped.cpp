// Stepped flows: their times, their faults, and their way to a schedule.
#include "colltopo/stepped.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace colltopo {

namespace {

std::size_t resource(const Topology& topology, Step step, LinkId link) {
  return static_cast<std::size_t>(step - 1) * topology.links().size() + static_cast<std::size_t>(link);
}

bool same_pair(const SteppedPath& a, const SteppedPath& b) { return a.source == b.source && a.target == b.target; }

/// Calls visit(first, end) for every hop of a path.
template <typename Visit>
void for_each_hop(const Topology& topology, std::span<const LinkId> links, const Visit& visit) {
  for (std::size_t first = 0; first < links.size();) {
    std::size_t end = first + 1;
    while (end < links.size() && !topology.is_host(topology.link(links[end - 1]).head)) ++end;
    visit(first, end);
    first = end;
  }
}

std::string steps_fault(const Topology& topology, const SteppedPath& path) {
  if (path.steps.size() != path.links.size())
    return fmt::format("{} steps for {} links", path.steps.size(), path.links.size());
  std::string fault;
  Step last = 0;
  for_each_hop(topology, path.links, [&](std::size_t first, std::size_t end) {
    if (!fault.empty()) return;
    if (path.steps[first] <= last)
      fault = fmt::format("link {} in step {}, after one in step {}", topology.link_name(path.links[first]),
                          path.steps[first], last);
    last = path.steps[first];
    for (std::size_t i = first; i < end; ++i)
      if (path.steps[i] != last)
        fault = fmt::format("link {} in step {}: data rests in a switch since step {}",
                            topology.link_name(path.links[i]), path.steps[i], last);
  });
  return fault;
}

}  // namespace

SteppedPath SteppedFlow::path(std::size_t index) const {
  const WeightedPath path = routing_.path(index);
  const std::size_t first = first_step_[index];
  return {path.source, path.target, path.weight, path.links,
          std::span(steps_).subspan(first, first_step_[index + 1] - first)};
}

void SteppedFlow::add(NodeId source, NodeId target, double weight, std::span<const LinkId> links,
                      std::span<const Step> steps) {
  routing_.add(source, target, weight, links);
  steps_.insert(steps_.end(), steps.begin(), steps.end());
  first_step_.push_back(steps_.size());
  for (const Step step : steps) last_step_ = std::max(last_step_, step);
}

std::vector<double> step_times(const Topology& topology, const SteppedFlow& flow) {
  const std::vector<double> capacity = capacities(topology);
  std::vector<double> loads(static_cast<std::size_t>(flow.steps()) * capacity.size(), 0);
  for (std::size_t i = 0; i < flow.paths(); ++i) {
    const SteppedPath path = flow.path(i);
    for (std::size_t k = 0; k < path.links.size(); ++k)
      loads[resource(topology, path.steps[k], path.links[k])] += path.weight;
  }
  std::vector<double> times(static_cast<std::size_t>(flow.steps()), 0);
  for (std::size_t r = 0; r < loads.size(); ++r) {
    double& time = times[r / capacity.size()];
    time = std::max(time, loads[r] / capacity[r % capacity.size()]);
  }
  return times;
}

std::string stepped_fault(const Topology& topology, const SteppedFlow& flow) {
  if (std::string fault = routing_fault(topology, flow.routing()); !fault.empty()) return fault;
  for (std::size_t i = 0; i < flow.paths(); ++i)
    if (const std::string fault = steps_fault(topology, flow.path(i)); !fault.empty())
      return fmt::format("{} to {}: {}", topology.node_name(flow.path(i).source),
                         topology.node_name(flow.path(i).target), fault);
  return "";
}

ChunkedSteps chunked(const Topology& topology, const SteppedFlow& flow, Chunk most) {
  const std::vector<double> capacity = capacities(topology);
  const std::vector<double> times = step_times(topology, flow);
  Shares shares;
  // Steps in which nothing moves are not steps.
  std::vector<Step> step_of(times.size() + 1, 0);
  for (std::size_t t = 0; t < times.size(); ++t) {
    step_of[t + 1] = step_of[t] + (times[t] > 0 ? 1 : 0);
    for (std::size_t link = 0; times[t] > 0 && link < capacity.size(); ++link) {
      shares.capacity.push_back(capacity[link]);
      shares.step.push_back(step_of[t]);
    }
  }
  std::vector<std::vector<std::int32_t>> resources(flow.paths());
  for (std::size_t i = 0; i < flow.paths(); ++i) {
    const SteppedPath path = flow.path(i);
    if (i > 0 && !same_pair(path, flow.path(i - 1))) shares.end_pair();
    for (std::size_t k = 0; k < path.links.size(); ++k) {
      const Step step = step_of[static_cast<std::size_t>(path.steps[k])];
      resources[i].push_back(static_cast<std::int32_t>(resource(topology, step, path.links[k])));
    }
    shares.weights.push_back(path.weight);
    shares.resources.push_back(resources[i]);
  }
  if (flow.paths() > 0) shares.end_pair();
  const ChunkCounts counts = whole_chunks(shares, most);

  ChunkedSteps result{counts.chunks, SteppedFlow(flow.hosts()), counts.time_before, counts.time};
  for (std::size_t i = 0; i < flow.paths(); ++i) {
    if (counts.counts[i] == 0) continue;
    const SteppedPath path = flow.path(i);
    std::vector<Step> steps;
    for (const Step step : path.steps) steps.push_back(step_of[static_cast<std::size_t>(step)]);
    result.flow.add(path.source, path.target, double{1} * counts.counts[i] / counts.chunks, path.links, steps);
  }
  return result;
}

std::vector<Transfer> transfers(const Topology& topology, const ChunkedSteps& chunked, std::vector<Route>* routes) {
  using Ends = std::pair<NodeId, NodeId>;
  std::map<Ends, std::map<std::vector<LinkId>, Lane>> lanes;
  std::vector<Transfer> all;
  Chunk first = 0;
  for (std::size_t i = 0; i < chunked.flow.paths(); ++i) {
    const SteppedPath path = chunked.flow.path(i);
    if (i > 0 && !same_pair(path, chunked.flow.path(i - 1))) first = 0;
    const auto count = static_cast<Chunk>(std::lround(path.weight * chunked.chunks));
    for_each_hop(topology, path.links, [&](std::size_t begin, std::size_t end) {
      const NodeId from = topology.link(path.links[begin]).tail, to = topology.link(path.links[end - 1]).head;
      auto& of_hop = lanes[{from, to}];
      const auto lane = of_hop
                            .try_emplace({path.links.begin() + static_cast<std::ptrdiff_t>(begin),
                                          path.links.begin() + static_cast<std::ptrdiff_t>(end)},
                                         static_cast<Lane>(of_hop.size()))
                            .first->second;
      for (Chunk chunk = first; chunk < first + count; ++chunk)
        all.push_back({path.steps[begin], from, to, path.source, path.target, chunk, lane});
    });
    first += count;
  }
  if (routes != nullptr) {
    routes->clear();
    for (const auto& [ends, of_hop] : lanes) {
      const std::size_t begin = routes->size();
      for (const auto& [links, lane] : of_hop) routes->push_back({ends.first, ends.second, lane, 0, links});
      std::sort(routes->begin() + static_cast<std::ptrdiff_t>(begin), routes->end(),
                [](const Route& a, const Route& b) { return a.lane < b.lane; });
    }
  }
  return all;
}

Schedule stepped_alltoall(std::string name, const Topology& topology, const ChunkedSteps& chunked) {
  std::vector<Route> routes;
  std::vector<Transfer> moves = transfers(topology, chunked, &routes);
  Schedule schedule =
      lower(std::move(name), {Collective::alltoall, topology.hosts(), chunked.chunks, 0}, std::move(moves));
  schedule.routes = std::move(routes);
  schedule.topology = fingerprint(topology);
  schedule.topology_name = topology.name();
  return schedule;
}

}  // namespace colltopo
