// The instance without symmetry; loads of classes and what their lengths prove.
#include "synthesis/sweep/flow_instance.h"

#include <algorithm>
#include <numeric>

#include "base/parallel.h"
#include "synthesis/sweep/shortest_path_tree.h"

namespace colltopo::synthesis {

double FlowInstance::time_of(std::span<const double> loads) const {
  double largest = 0;
  for (std::size_t e = 0; e < loads.size(); ++e) largest = std::max(largest, loads[e] / class_capacity[e]);
  return largest;
}

FlowInstance whole_instance(const Topology& topology, const Demand* traffic) {
  FlowInstance instance;
  instance.traffic = traffic;
  instance.topology = &topology;
  instance.sources.resize(static_cast<std::size_t>(topology.hosts()));
  std::iota(instance.sources.begin(), instance.sources.end(), 0);
  instance.multiplicity.assign(instance.sources.size(), 1.0);
  instance.link_class.resize(topology.links().size());
  std::iota(instance.link_class.begin(), instance.link_class.end(), 0);
  instance.class_capacity = capacities(topology);
  return instance;
}

std::vector<double> class_loads(const FlowInstance& instance, const Routing& routing) {
  std::vector<std::size_t> source_of(static_cast<std::size_t>(instance.topology->hosts()), 0);
  for (std::size_t i = 0; i < instance.sources.size(); ++i)
    source_of[static_cast<std::size_t>(instance.sources[i])] = i;
  std::vector<double> loads(instance.class_capacity.size(), 0);
  for (std::size_t i = 0; i < routing.paths(); ++i) {
    const WeightedPath path = routing.path(i);
    const double load = path.weight * instance.demand(source_of[static_cast<std::size_t>(path.source)], path.target);
    for (const LinkId link : path.links)
      loads[static_cast<std::size_t>(instance.link_class[static_cast<std::size_t>(link)])] += load;
  }
  return loads;
}

std::vector<double> link_lengths(const FlowInstance& instance, const std::vector<double>& class_lengths) {
  std::vector<double> lengths;
  lengths.reserve(instance.link_class.size());
  for (const std::int32_t c : instance.link_class) lengths.push_back(class_lengths[static_cast<std::size_t>(c)]);
  return lengths;
}

double time_lower_bound(const FlowInstance& instance, const std::vector<double>& class_lengths, int threads) {
  const Arcs arcs(instance);
  std::vector<ShortestPathTree> trees(worker_count(threads), ShortestPathTree(arcs));
  std::vector<double> sums(instance.sources.size());
  for_each_index(sums.size(), threads, [&](std::size_t source, unsigned worker) {
    std::vector<NodeId> order;
    trees[worker].grow(instance.sources[source], class_lengths, order);
    for (NodeId target = 0; target < instance.topology->hosts(); ++target)
      sums[source] += instance.demand(source, target) * trees[worker].distance(target);
  });
  const double distances = std::accumulate(sums.begin(), sums.end(), 0.0);
  const double volume =
      std::inner_product(class_lengths.begin(), class_lengths.end(), instance.class_capacity.begin(), 0.0);
  return volume > 0 ? distances / volume : 0;
}

}  // namespace colltopo::synthesis
