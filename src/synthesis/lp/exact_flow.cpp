// The undecomposed, master and child programmes of all-to-all flow.
#include "synthesis/lp/exact_flow.h"

#include <algorithm>
#include <iterator>

#include "base/deadline.h"
#include "base/parallel.h"
#include "synthesis/lp/flow_columns.h"

namespace colltopo::synthesis {

namespace {

std::vector<LinkAmount> all_links(const Topology& topology) {
  std::vector<LinkAmount> links(topology.links().size());
  for (std::size_t link = 0; link < links.size(); ++link) links[link].link = static_cast<LinkId>(link);
  return links;
}

lp::Solution solved(const lp::Model& model, const Topology& topology, double seconds) {
  expect_connected(topology);  // then the programmes have an optimum
  return solved_flow(model, topology.name(), seconds);
}

/// (2), (7): the loads of every class are at most its capacity times T. Returns the first of the rows, one per class.
lp::Row add_capacities(lp::Model& model, lp::Column time, const std::vector<double>& class_capacity,
                       std::vector<std::vector<lp::Term>> loads) {
  const auto first = static_cast<lp::Row>(model.rows());
  for (std::size_t c = 0; c < loads.size(); ++c) {
    loads[c].push_back({time, -class_capacity[c]});
    model.row(-lp::k_infinity, 0, loads[c]);
    loads[c] = {};
  }
  return first;
}

ExactFlow result(const lp::Solution& solution, const std::vector<FlowColumns>& commodities, lp::Row first_capacity,
                 std::size_t classes) {
  ExactFlow exact;
  exact.time = solution.objective;
  exact.flows.reserve(commodities.size());
  for (const FlowColumns& commodity : commodities) exact.flows.push_back(commodity.flow(solution));
  for (std::size_t c = 0; c < classes; ++c)
    exact.class_lengths.push_back(std::max(0.0, -solution.row_prices[static_cast<std::size_t>(first_capacity) + c]));
  return exact;
}

}  // namespace

std::size_t pair_flow_columns(const Topology& topology) {
  // Without the links into the source and out of the target of each pair.
  const auto hosts = static_cast<std::size_t>(topology.hosts());
  std::size_t useless = 0;
  for (NodeId host = 0; host < topology.hosts(); ++host)
    useless += topology.links_in(host).size() + topology.links_out(host).size();
  return 1 + hosts * (hosts - 1) * topology.links().size() - (hosts - 1) * useless;
}

ExactFlow pair_flows(const Topology& topology, double seconds) {
  const std::vector<double> capacity = capacities(topology);
  const std::vector<LinkAmount> links = all_links(topology);
  lp::Model model;
  const lp::Column time = model.column(1);
  std::vector<FlowColumns> commodities;
  std::vector<std::vector<lp::Term>> loads(capacity.size());
  for (NodeId source = 0; source < topology.hosts(); ++source)
    for (NodeId target = 0; target < topology.hosts(); ++target) {
      if (source == target) continue;
      const FlowColumns& commodity = commodities.emplace_back(model, topology, source, target, 0.0, links);
      for (const LinkAmount& on : commodity.links())
        loads[static_cast<std::size_t>(on.link)].push_back({commodity.column(on.link), 1});
    }
  const lp::Row first = add_capacities(model, time, capacity, std::move(loads));
  return result(solved(model, topology, seconds), commodities, first, capacity.size());
}

ExactFlow grouped_flows(const FlowInstance& instance, double seconds) {
  const Topology& topology = *instance.topology;
  const std::vector<LinkAmount> links = all_links(topology);
  lp::Model model;
  const lp::Column time = model.column(1);
  std::vector<FlowColumns> commodities;
  std::vector<std::vector<lp::Term>> loads(instance.class_capacity.size());
  for (std::size_t i = 0; i < instance.sources.size(); ++i) {
    const FlowColumns& commodity =
        commodities.emplace_back(model, topology, instance.sources[i], LinkFlow::k_everybody, 0.0, links);
    for (const LinkAmount& on : commodity.links())
      loads[static_cast<std::size_t>(instance.link_class[static_cast<std::size_t>(on.link)])].push_back(
          {commodity.column(on.link), instance.multiplicity[i]});
  }
  const lp::Row first = add_capacities(model, time, instance.class_capacity, std::move(loads));
  return result(solved(model, topology, seconds), commodities, first, instance.class_capacity.size());
}

std::vector<LinkFlow> child_flows(const Topology& topology, const LinkFlow& grouped, double seconds) {
  lp::Model model;
  std::vector<FlowColumns> commodities;
  std::vector<std::vector<lp::Term>> loads(grouped.links.size());
  for (NodeId target = 0; target < topology.hosts(); ++target) {
    if (target == grouped.source) continue;
    const FlowColumns& commodity =
        commodities.emplace_back(model, topology, grouped.source, target, 1.0, grouped.links);
    for (std::size_t i = 0; i < grouped.links.size(); ++i)
      if (const lp::Column column = commodity.column(grouped.links[i].link); column >= 0)
        loads[i].push_back({column, 1});
  }
  for (std::size_t i = 0; i < grouped.links.size(); ++i) {
    // Rounding must not make it infeasible.
    constexpr double k_slack = 1e-7;
    model.row(-lp::k_infinity, grouped.links[i].amount + k_slack, loads[i]);
  }
  const lp::Solution solution = solved(model, topology, seconds);
  std::vector<LinkFlow> flows;
  for (const FlowColumns& commodity : commodities) flows.push_back(commodity.flow(solution));
  return flows;
}

Synthesis synthesis_of(const Topology& topology, ExactFlow exact, const SynthesisOptions& options) {
  Synthesis synthesis;
  synthesis.routing = routing_of(topology, std::move(exact.flows));
  synthesis.bound.time = all_to_all_time(topology, link_loads(topology, synthesis.routing));
  synthesis.bound.lengths = std::move(exact.class_lengths);
  synthesis.bound.time_lower = time_lower_bound(topology, synthesis.bound.lengths, options.threads);
  return synthesis;
}

Synthesis decomposed_flow(const Topology& topology, const SynthesisOptions& options) {
  const Deadline deadline(options.seconds);
  ExactFlow exact = grouped_flows(whole_instance(topology), options.seconds);
  if (options.children == Children::linear_programs) {
    for (LinkFlow& flow : exact.flows) restore_conservation(topology, flow);
    std::vector<std::vector<LinkFlow>> pairs(exact.flows.size());
    for_each_index(pairs.size(), options.threads, [&](std::size_t source, unsigned) {
      pairs[source] = child_flows(topology, exact.flows[source], deadline.seconds_left());
    });
    exact.flows.clear();
    for (std::vector<LinkFlow>& flows : pairs) std::move(flows.begin(), flows.end(), std::back_inserter(exact.flows));
  }
  return synthesis_of(topology, std::move(exact), options);
}

}  // namespace colltopo::synthesis
