// SSSP (Domke, Hoefler, Nagel 2011, "Deadlock-free oblivious routing for arbitrary topologies"): one shortest path per
// pair, chosen source by source so that links which are already loaded are avoided.
//
// A link weighs hosts^2 plus the paths so far over it, divided by its capacity. The first term, which no sum of the
// second over a path of equal links outweighs, keeps paths short, as in OpenSM's implementation by the same authors;
// all paths of a source are chosen under the same weights, and then counted.
#include "synthesis/methods.h"
#include "synthesis/sweep/shortest_path_tree.h"

namespace colltopo::synthesis {

namespace {

std::string sssp_refusal(const Topology&, const SynthesisOptions&) { return ""; }

Synthesis make_sssp(const Topology& topology, const SynthesisOptions&) {
  require_all_pairs(topology);
  const FlowInstance instance = whole_instance(topology);
  const Arcs arcs(instance);
  ShortestPathTree tree(arcs);
  const double initial = static_cast<double>(topology.hosts()) * topology.hosts();
  std::vector<double> paths_over(topology.links().size(), 0), weights(paths_over.size());
  Synthesis synthesis{Routing(topology.hosts()), {}};
  for (NodeId source = 0; source < topology.hosts(); ++source) {
    for (std::size_t link = 0; link < weights.size(); ++link)
      weights[link] = (initial + paths_over[link]) / instance.class_capacity[link];
    std::vector<NodeId> order;
    tree.grow(source, weights, order);
    for (NodeId target = 0; target < topology.hosts(); ++target) {
      if (target == source) continue;
      const std::span<const LinkId> path = tree.path(target);
      synthesis.routing.add(source, target, 1, path);
      for (const LinkId link : path) ++paths_over[static_cast<std::size_t>(link)];
    }
  }
  synthesis.bound.time = all_to_all_time(topology, paths_over);
  return synthesis;
}

}  // namespace

RoutingMethod sssp_method() {
  return {"sssp", "single-source shortest paths under weights that follow the load, one path per pair (SSSP)",
          sssp_refusal, make_sssp};
}

}  // namespace colltopo::synthesis
