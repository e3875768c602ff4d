// The instance without symmetry, and loads of classes.
#include "synthesis/flow_instance.h"

#include <numeric>

namespace colltopo {

FlowInstance whole_instance(const Topology& topology) {
  FlowInstance instance;
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
  std::vector<double> multiplicity(static_cast<std::size_t>(instance.topology->hosts()), 0);
  for (std::size_t i = 0; i < instance.sources.size(); ++i)
    multiplicity[static_cast<std::size_t>(instance.sources[i])] = instance.multiplicity[i];
  std::vector<double> loads(instance.class_capacity.size(), 0);
  for (std::size_t i = 0; i < routing.paths(); ++i) {
    const WeightedPath path = routing.path(i);
    const double load = path.weight * multiplicity[static_cast<std::size_t>(path.source)];
    for (const LinkId link : path.links)
      loads[static_cast<std::size_t>(instance.link_class[static_cast<std::size_t>(link)])] += load;
  }
  return loads;
}

}  // namespace colltopo
