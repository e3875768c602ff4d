// Dimension-ordered routing (DOR; Basu et al., 5.2): on a grid, the sides one after the other, each the shorter way
// round.
//
// Ties of both ways round are broken by the parity of the coordinate, so that a torus is loaded evenly (ShortestPaths).
#include <fmt/format.h>

#include "synthesis/methods.h"

namespace colltopo::synthesis {

namespace {

std::string dor_refusal(const Topology& topology, const SynthesisOptions&) {
  if (!topology.sides().empty()) return "";
  return fmt::format("dimension order needs a whole grid (ring, mesh, torus, hypercube); {} is none", topology.name());
}

Synthesis make_dor(const Topology& topology, const SynthesisOptions&) {
  const ShortestPaths grid(topology, SinglePaths::unknown);
  Synthesis synthesis{Routing(topology.hosts()), {}};
  for (NodeId source = 0; source < topology.hosts(); ++source)
    for (NodeId target = 0; target < topology.hosts(); ++target)
      if (source != target) synthesis.routing.add(source, target, 1, grid.path(source, target));
  synthesis.bound.time = all_to_all_time(topology, link_loads(topology, synthesis.routing));
  return synthesis;
}

}  // namespace

RoutingMethod dor_method() {
  return {"dor", "dimension-ordered routing on grids, one path per pair (DOR)", dor_refusal, make_dor};
}

}  // namespace colltopo::synthesis
