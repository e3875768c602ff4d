// Flows of representatives: the instance of a group that acts freely, its chunks, and layers by orbits of links.
//
// The argument is that of sweep/orbit_instance.cpp with a smaller group. There the average runs over all automorphisms,
// which no file could list; here over a group with one element per host of an orbit, so that the average is a schedule.
#include <algorithm>
#include <functional>
#include <utility>

#include "base/deadline.h"
#include "base/index.h"
#include "colltopo/chunking.h"
#include "colltopo/error.h"
#include "colltopo/symmetric_alltoall.h"
#include "routing/dependencies.h"
#include "routing/path_tree.h"
#include "synthesis/near_optimal_flow.h"
#include "synthesis/paths/fewer_paths.h"
#include "topology/link_images.h"

namespace colltopo {

using namespace synthesis;

namespace {

constexpr double k_flow_part = 0.3;    // of the gap is the flow's, the rest is for merging paths and whole chunks
constexpr double k_merged_part = 0.6;  // is spent when paths have been merged

FlowInstance instance_of(const Topology& topology, const Symmetry& symmetry) {
  FlowInstance instance;
  instance.topology = &topology;
  instance.sources = symmetry.representatives();
  if (!std::ranges::is_sorted(instance.sources)) throw Error("representatives are not in increasing order");
  instance.multiplicity.assign(instance.sources.size(), symmetry.elements());
  instance.link_class = link_orbits(topology, symmetry);
  const std::int32_t classes = *std::ranges::max_element(instance.link_class) + 1;
  instance.class_capacity.assign(index(classes), 0);
  const std::vector<double> capacity = capacities(topology);
  for (std::size_t link = 0; link < capacity.size(); ++link)
    instance.class_capacity[index(instance.link_class[link])] += capacity[link];
  return instance;
}

/// Every path as the orbits of its links, in order.
class PathsByOrbit {
 public:
  PathsByOrbit(const FlowInstance& instance, const Routing& routing) {
    orbits_.reserve(routing.links());
    std::vector<std::size_t> first{0};
    for (std::size_t i = 0; i < routing.paths(); ++i) {
      for (const LinkId link : routing.path(i).links) orbits_.push_back(instance.link_class[index(link)]);
      first.push_back(orbits_.size());
    }
    for (std::size_t i = 0; i + 1 < first.size(); ++i)
      paths_.push_back(std::span(orbits_).subspan(first[i], first[i + 1] - first[i]));
  }
  const std::vector<std::span<const std::int32_t>>& paths() const { return paths_; }

 private:
  std::vector<std::int32_t> orbits_;
  std::vector<std::span<const std::int32_t>> paths_;
};

struct Counted {
  ChunkCounts counts;
  Routing routing;  // weights are multiples of 1/chunks; paths of no chunks are gone
};

Counted in_chunks(const FlowInstance& instance, const Routing& routing, Chunk most, double loss) {
  const PathsByOrbit by_orbit(instance, routing);
  Shares shares;
  for (const double capacity : instance.class_capacity)
    shares.capacity.push_back(capacity / instance.multiplicity.front());
  shares.resources = by_orbit.paths();
  for (std::size_t i = 0; i < routing.paths(); ++i) {
    const WeightedPath path = routing.path(i);
    if (i > 0 && (routing.path(i - 1).source != path.source || routing.path(i - 1).target != path.target))
      shares.end_pair();
    shares.weights.push_back(path.weight);
  }
  shares.end_pair();
  Counted result{whole_chunks(shares, most, false, loss), Routing(routing.hosts())};
  for (std::size_t i = 0; i < routing.paths(); ++i)
    if (result.counts.counts[i] > 0)
      result.routing.add(routing.path(i).source, routing.path(i).target,
                         double{1} * result.counts.counts[i] / result.counts.chunks, routing.path(i).links);
  return result;
}

/// [path] layers in which dependencies of orbits have no cycle, long paths first (LASH); empty: there are none, for
/// some path takes two links of one orbit, whose images wait for each other round in a circle.
std::vector<std::int32_t> repeating_layers(const FlowInstance& instance, const Routing& routing) {
  const PathsByOrbit by_orbit(instance, routing);
  const auto& paths = by_orbit.paths();
  std::vector<std::int32_t> seen(instance.class_capacity.size(), -1);
  for (std::size_t i = 0; i < paths.size(); ++i)
    for (const std::int32_t orbit : paths[i])
      if (std::exchange(seen[index(orbit)], static_cast<std::int32_t>(i)) == static_cast<std::int32_t>(i)) return {};
  const Dependencies dependencies(instance.class_capacity.size(), paths);
  std::vector<std::size_t> order(paths.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return paths[i].size(); });
  std::vector<std::int32_t> layer(paths.size(), 0);
  std::vector<AcyclicLayer> layers;
  std::vector<DependencyId> between;
  for (const std::size_t i : order) {
    dependencies.along(paths[i], between);
    std::size_t l = 0;
    while (l < layers.size() && !layers[l].take(paths[i], between)) ++l;
    if (l == layers.size()) {
      layers.emplace_back(dependencies);
      layers.back().take(paths[i], between);
    }
    layer[i] = static_cast<std::int32_t>(l);
  }
  return layer;
}

void put_into_layers(const FlowInstance& instance, const Routing& routing, SymmetricSchedule& schedule) {
  const std::vector<std::int32_t> layers = repeating_layers(instance, routing);
  if (layers.empty()) return;
  // A tree's paths come in another order; a path is found again by its links.
  std::vector<std::pair<std::vector<LinkId>, std::int32_t>> known;
  for (std::size_t i = 0; i < routing.paths(); ++i)
    if (layers[i] > 0) known.push_back({{routing.path(i).links.begin(), routing.path(i).links.end()}, layers[i]});
  if (known.empty()) return;
  std::ranges::sort(known);
  for (PathTree& tree : schedule.paths)
    for (std::size_t node = 1; node < tree.nodes.size(); ++node) {
      if (tree.nodes[node].chunks == 0) continue;
      const std::vector<LinkId> links = path_of(tree, static_cast<std::int32_t>(node));
      const auto found =
          std::ranges::lower_bound(known, links, {}, &std::pair<std::vector<LinkId>, std::int32_t>::first);
      if (found != known.end() && found->first == links) tree.nodes[node].layer = found->second;
    }
}

}  // namespace

SymmetricSynthesis symmetric_alltoall(const Topology& topology, const Symmetry& symmetry,
                                      const SynthesisOptions& options, Chunk most_chunks) {
  const FlowInstance instance = instance_of(topology, symmetry);
  SynthesisOptions own = options;
  own.team = nullptr;
  own.start = nullptr;
  own.gap = k_flow_part * options.gap;
  FlowSolution solution = near_optimal_flow(instance, own, k_start_gap);
  const Routing merged =
      with_fewer_paths(instance, solution.routing, solution.time_lower * (1 + k_merged_part * options.gap));

  SymmetricSynthesis result;
  result.bound.time_lower = solution.time_lower;
  result.bound.lengths = link_lengths(instance, solution.class_lengths);
  double merged_time = 0;
  const std::vector<double> loads = class_loads(instance, merged);
  for (std::size_t c = 0; c < loads.size(); ++c)
    merged_time = std::max(merged_time, loads[c] / instance.class_capacity[c]);
  result.flow_time = merged_time;
  const double loss = std::clamp(solution.time_lower * (1 + options.gap) / merged_time - 1, 0.0, k_negligible_loss);
  const Counted counted = in_chunks(instance, merged, most_chunks, loss);
  result.bound.time = counted.counts.time;

  SymmetricSchedule& schedule = result.schedule;
  schedule.name = "mcf";
  schedule.shape = {Collective::alltoall, topology.hosts(), counted.counts.chunks, 0};
  schedule.symmetry = symmetry;
  for (const Rank representative : symmetry.representatives()) {
    schedule.paths.push_back(path_tree(counted.routing, representative, counted.counts.chunks));
    schedule.splits.push_back(splits_of(topology, representative, schedule.paths.back()));
  }
  put_into_layers(instance, counted.routing, schedule);
  schedule.topology = fingerprint(topology);
  schedule.topology_name = topology.name();
  return result;
}

}  // namespace colltopo
