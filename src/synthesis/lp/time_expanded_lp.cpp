// tsMCF as a linear programme on the time-expanded graph.
//
// A flow per source, to every host after the last step. Own data may as well stay: it rests on links without a price.
#include "synthesis/lp/time_expanded_lp.h"

#include <algorithm>
#include <numeric>

#include "synthesis/lp/expanded_graph.h"
#include "synthesis/lp/flow_columns.h"

namespace colltopo::synthesis {

namespace {

/// Links and steps of a path of the expanded graph. Where it comes back to a host, the data may as well have stayed.
struct Moves {
  std::vector<LinkId> links;
  std::vector<Step> steps;

  Moves(const Topology& topology, const ExpandedGraph& expanded, std::span<const LinkId> path) {
    for (const LinkId on : path) {
      const LinkId link = expanded.link_of(on);
      if (link < 0) continue;
      links.push_back(link);
      steps.push_back(expanded.step_of(on));
      const NodeId head = topology.link(link).head;
      const auto left =
          std::find_if(links.begin(), links.end(), [&](LinkId l) { return topology.link(l).tail == head; });
      if (!topology.is_host(head) || left == links.end()) continue;
      steps.erase(steps.begin() + (left - links.begin()), steps.end());
      links.erase(left, links.end());
    }
  }
};

}  // namespace

SteppedFlow time_expanded_flow(const Topology& topology, Step steps, double seconds) {
  const ExpandedGraph expanded(topology, steps);
  const std::size_t links = topology.links().size();
  const std::vector<double> capacity = capacities(topology);

  lp::Model model;
  for (Step step = 1; step <= steps; ++step) model.column(1);  // (15): U_t
  std::vector<FlowColumns> commodities;
  std::vector<std::vector<lp::Term>> loads(static_cast<std::size_t>(steps) * links);
  for (NodeId source = 0; source < topology.hosts(); ++source) {
    const FlowColumns& commodity = commodities.emplace_back(model, expanded.graph(), expanded.start(source),
                                                            LinkFlow::k_everybody, 0.0, expanded.useful_links(source));
    for (const LinkAmount& on : commodity.links())
      if (const LinkId link = expanded.link_of(on.link); link >= 0)
        loads[static_cast<std::size_t>(expanded.step_of(on.link) - 1) * links + static_cast<std::size_t>(link)]
            .push_back({commodity.column(on.link), 1});
  }
  for (std::size_t r = 0; r < loads.size(); ++r) {  // (16)
    if (loads[r].empty()) continue;
    loads[r].push_back({static_cast<lp::Column>(r / links), -capacity[r % links]});
    model.row(-lp::k_infinity, 0, loads[r]);
    loads[r] = {};
  }
  const lp::Solution solution = solved_flow(model, expanded.graph().name(), seconds);

  SteppedFlow flow(topology.hosts());
  for (NodeId source = 0; source < topology.hosts(); ++source) {
    LinkFlow grouped = commodities[static_cast<std::size_t>(source)].flow(solution);
    restore_conservation(expanded.graph(), grouped);
    for (const FlowPath& path : strip_paths(expanded.graph(), grouped)) {
      if (path.target == source) continue;
      const Moves moves(topology, expanded, path.links);
      flow.add(source, path.target, path.weight, moves.links, moves.steps);
    }
  }
  return flow;
}

double stepped_time(const Topology& topology, const SteppedFlow& flow) {
  const std::vector<double> times = step_times(topology, flow);
  return std::accumulate(times.begin(), times.end(), 0.0);
}

}  // namespace colltopo::synthesis
