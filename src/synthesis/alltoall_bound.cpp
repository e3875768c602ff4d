// Which solver when: distances where they decide, then symmetry, path Gauss-Seidel, and the interior point for more.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "colltopo/demand.h"
#include "colltopo/error.h"
#include "colltopo/synthesis.h"
#include "synthesis/near_optimal_flow.h"
#include "synthesis/sweep/arcs.h"

namespace colltopo {

using namespace synthesis;

namespace {

constexpr double k_small_gap = 1e-9;            // of small instances, where it costs nothing
constexpr double k_small_pairs = 20000;         // an instance of so many pairs
constexpr std::size_t k_small_classes = 400;    // and classes is small
constexpr double k_recomputed_distances = 2e7;  // hosts times links up to which the whole's distances are recomputed

double largest_over_capacity(const FlowInstance& instance, const std::vector<double>& loads) {
  double largest = 0;
  for (std::size_t c = 0; c < loads.size(); ++c) largest = std::max(largest, loads[c] / instance.class_capacity[c]);
  return largest;
}

/// The bound of class loads and class lengths: both sides computed anew from them, the lower one on the whole network
/// unless that takes long.
FlowBound bound_of(const FlowInstance& instance, const std::vector<double>& loads,
                   const std::vector<double>& class_lengths, int threads) {
  const Topology& topology = *instance.topology;
  FlowBound bound;
  bound.time = largest_over_capacity(instance, loads);
  bound.lengths = link_lengths(instance, class_lengths);
  const bool whole =
      instance.traffic == nullptr &&
      static_cast<double>(topology.hosts()) * static_cast<double>(topology.links().size()) <= k_recomputed_distances;
  bound.time_lower =
      whole ? time_lower_bound(topology, bound.lengths, threads) : time_lower_bound(instance, class_lengths, threads);
  const std::vector<double> capacity = capacities(topology);
  bound.loads.resize(capacity.size());
  for (std::size_t link = 0; link < capacity.size(); ++link) {
    const auto c = static_cast<std::size_t>(instance.link_class[link]);
    bound.loads[link] = loads[c] / instance.class_capacity[c] * capacity[link];
  }
  return bound;
}

/// Loads of shortest paths where these are even, so that distances over links are the optimum: all links alike, or
/// dimension order on a torus. Otherwise empty.
std::vector<double> even_loads(const FlowInstance& instance) {
  const Topology& topology = *instance.topology;
  if (instance.class_capacity.size() == 1) {
    double distances = 0;
    for (std::size_t i = 0; i < instance.sources.size(); ++i) {
      const std::vector<int> distance = distances_from(topology, instance.sources[i]);
      for (NodeId host = 0; host < topology.hosts(); ++host)
        distances += instance.multiplicity[i] * distance[static_cast<std::size_t>(host)];
    }
    return {distances};
  }
  if (!topology.wraps() || instance.class_capacity.size() != topology.links().size()) return {};
  const ShortestPaths shortest(topology, SinglePaths::unknown);
  std::vector<double> loads(topology.links().size(), 0);
  for (NodeId source = 0; source < topology.hosts(); ++source)
    for (NodeId target = 0; target < topology.hosts(); ++target)
      for (const LinkId link : shortest.path(source, target)) loads[static_cast<std::size_t>(link)] += 1;
  const auto [least, most] = std::minmax_element(loads.begin(), loads.end());
  const auto [slowest, fastest] = std::minmax_element(instance.class_capacity.begin(), instance.class_capacity.end());
  return *least == *most && *slowest == *fastest ? loads : std::vector<double>();
}

FlowSolution solve(const FlowInstance& instance, SynthesisOptions options) {
  const double pairs = static_cast<double>(instance.sources.size()) * (instance.topology->hosts() - 1);
  const std::size_t classes = instance.class_capacity.size();
  if (pairs <= k_small_pairs && classes <= k_small_classes) options.gap = std::min(options.gap, k_small_gap);
  return near_optimal_flow(instance, options, k_start_gap, Answer::loads);
}

}  // namespace

FlowBound alltoall_bound(const Topology& topology, const SynthesisOptions& options) {
  if (topology.hosts() < 2)
    throw Error(topology.name() + ": has 1 host; an all-to-all needs two, so there is no bound");
  require_all_pairs(topology);
  const FlowInstance instance = options.symmetry ? orbit_instance(topology) : whole_instance(topology);
  if (const std::vector<double> loads = even_loads(instance); !loads.empty())
    return bound_of(instance, loads, std::vector<double>(loads.size(), 1), options.threads);

  SynthesisOptions own = options;
  own.team = nullptr;
  if (options.symmetry) own.start = nullptr;  // it is a routing of all hosts, not of the representatives
  const FlowSolution solution = solve(instance, own);
  return bound_of(instance, solution.loads, solution.class_lengths, options.threads);
}

double time_lower_bound(const Topology& topology, const Demand& demand, std::span<const double> lengths, int threads) {
  return time_lower_bound(whole_instance(topology, &demand), {lengths.begin(), lengths.end()}, threads);
}

FlowBound alltoallv_bound(const Topology& topology, const Demand& demand, const SynthesisOptions& options) {
  if (demand.hosts() != topology.hosts())
    throw Error(fmt::format("{}: has {} hosts, the demand {}; expected as many", topology.name(), topology.hosts(),
                            demand.hosts()));
  require_all_pairs(topology);
  const FlowInstance instance = whole_instance(topology, &demand);
  SynthesisOptions own = options;
  own.team = nullptr;
  const FlowSolution solution = near_optimal_flow(instance, own, k_start_gap, Answer::loads);
  return bound_of(instance, solution.loads, solution.class_lengths, options.threads);
}

}  // namespace colltopo
