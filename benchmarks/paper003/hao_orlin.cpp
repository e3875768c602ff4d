// The network as LEMON's, and its answer.
#include "paper003/hao_orlin.h"

#include <lemon/hao_orlin.h>
#include <lemon/smart_graph.h>

namespace colltopo {

std::int64_t hao_orlin(std::int32_t nodes, std::int32_t source, const std::vector<Arc>& arcs) {
  using Capacities = lemon::SmartDigraph::ArcMap<std::int64_t>;
  lemon::SmartDigraph graph;
  for (std::int32_t node = 0; node < nodes; ++node) graph.addNode();
  Capacities capacity(graph);
  for (const Arc& arc : arcs)
    capacity[graph.addArc(lemon::SmartDigraph::nodeFromId(arc.tail), lemon::SmartDigraph::nodeFromId(arc.head))] =
        arc.capacity;
  lemon::HaoOrlin<lemon::SmartDigraph, Capacities> algorithm(graph, capacity);
  algorithm.init(lemon::SmartDigraph::nodeFromId(source));
  algorithm.calculateOut();
  return algorithm.minCutValue();
}

}  // namespace colltopo
