// Columns and conservation of a commodity; solving.
#include "synthesis/lp/flow_columns.h"

#include <fmt/format.h>

#include "colltopo/error.h"

namespace colltopo::synthesis {

FlowColumns::FlowColumns(lp::Model& model, const Topology& topology, NodeId source, NodeId target, double cost,
                         std::span<const LinkAmount> links)
    : source_(source), target_(target), columns_(topology.links().size(), -1) {
  for (const LinkAmount& on : links) {
    const Link& link = topology.link(on.link);
    if (link.head == source || link.tail == target) continue;
    columns_[static_cast<std::size_t>(on.link)] = model.column(cost);
    links_.push_back(on);
  }
  const LinkFlow flow{source, target, {}};
  std::vector<lp::Term> terms;
  for (NodeId node = 0; node < topology.nodes(); ++node) {
    if (node == source) continue;
    terms.clear();
    for (const LinkId link : topology.links_in(node))
      if (column(link) >= 0) terms.push_back({column(link), 1});
    for (const LinkId link : topology.links_out(node))
      if (column(link) >= 0) terms.push_back({column(link), -1});
    const double demand = flow.demand(topology, node);
    if (!terms.empty() || demand > 0) model.row(demand, lp::k_infinity, terms);
  }
}

LinkFlow FlowColumns::flow(const lp::Solution& solution) const {
  LinkFlow flow{source_, target_, {}};
  for (const LinkAmount& on : links_)
    if (const double amount = solution.columns[static_cast<std::size_t>(column(on.link))]; amount > 0)
      flow.links.push_back({on.link, amount});
  return flow;
}

lp::Solution solved_flow(const lp::Model& model, const std::string& name, double seconds) {
  lp::SolveOptions options;
  options.method = lp::Method::barrier;  // then a vertex: 5 times faster than the simplex methods alone
  options.seconds = seconds;
  lp::Solution solution = model.solve(options);
  if (solution.status == lp::Status::stopped)
    throw Error(fmt::format(
        "{}: the linear programme of {} variables and {} constraints is not solved in what was left of the time "
        "that it was given; expected more seconds",
        name, model.columns(), model.rows()));
  if (solution.status != lp::Status::optimal)
    throw Error(fmt::format("{}: Clp finds no optimum of the linear programme of {} variables and {} constraints", name,
                            model.columns(), model.rows()));
  return solution;
}

}  // namespace colltopo::synthesis
