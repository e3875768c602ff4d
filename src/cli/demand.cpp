#include "cli/demand.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "cli/certificate.h"
#include "cli/flow_loads.h"
#include "cli/progress.h"
#include "colltopo/cost.h"
#include "colltopo/error.h"

namespace colltopo::cli {

Demand demand_argument(const std::string& path, const Topology& topology) {
  return read_demand(file_contents(path), input_name(path), topology.hosts());
}

std::string demand_text(const Demand& demand) {
  return fmt::format("{:.6g} between {} hosts", demand.total(), demand.hosts());
}

namespace {

/// Of the link that is busy for longest, and how long in seconds.
struct Busiest {
  LinkId link = 0;
  double seconds = 0;
};
Busiest busiest_of(const Topology& topology, std::span<const double> loads) {
  Busiest busiest;
  for (LinkId link = 0; link < static_cast<LinkId>(loads.size()); ++link) {
    const double seconds = loads[static_cast<std::size_t>(link)] / topology.link(link).bandwidth;
    if (seconds > busiest.seconds) busiest = {link, seconds};
  }
  return busiest;
}

void report_busiest(Report& report, const Topology& topology, const Busiest& busiest) {
  report.add("busiest_link", busiest.link, fmt::format("{} ({})", busiest.link, topology.link_name(busiest.link)));
}

void report_traffic(Report& report, const Topology& topology, const Demand& demand) {
  report.add("collective", "alltoallv")
      .add("topology", topology.name())
      .add("bytes", demand.total(), demand_text(demand));
}

void check_lengths_of_demand(const DemandArguments& arguments, const Topology& topology, const Demand& demand,
                             Session& session) {
  const Certificate certificate = read_certificate(arguments.check_lengths, topology);
  const double lower = time_lower_bound(topology, demand, certificate.lengths, arguments.options.threads);
  const bool holds = lower > 0 && certificate.claim <= lower * (1 + 1e-9);
  const double seconds = lower / topology.slowest_bandwidth();
  Report report;
  report_traffic(report, topology, demand);
  report.add("time_lower_bound", seconds, seconds_text(seconds))
      .add("claim", certificate.claim, fmt::format("{:.9g}", certificate.claim))
      .add("valid", holds, holds ? "yes" : "no: the lengths prove less than is claimed");
  report.print(session);
  if (!holds) session.status = k_examined_is_wrong;
}

}  // namespace

void bound_of_demand(const DemandArguments& arguments, const Topology& topology, Session& session) {
  const Demand demand = demand_argument(arguments.demand, topology);
  if (!arguments.check_lengths.empty()) return check_lengths_of_demand(arguments, topology, demand, session);
  SynthesisOptions options = arguments.options;
  Progress progress(session);
  options.progress = [&](const FlowBound& bound) {
    progress.show(fmt::format("bytes over a link between {:.9g} and {:.9g}: gap {:.3g}", bound.time_lower, bound.time,
                              bound.gap()));
  };
  const auto began = std::chrono::steady_clock::now();
  const FlowBound bound = alltoallv_bound(topology, demand, options);
  const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  progress.clear();
  const double gap = std::max(0.0, bound.gap());
  const bool reached = gap <= options.gap;
  const double seconds = bound.time / topology.slowest_bandwidth(),
               lower = bound.time_lower / topology.slowest_bandwidth();
  Report report;
  report_traffic(report, topology, demand);
  report.add("time", seconds, fmt::format("{} by the flow found", seconds_text(seconds)))
      .add("time_lower_bound", lower, fmt::format("{}: nothing is faster", seconds_text(lower)))
      .add("gap", gap,
           fmt::format("{:.2g}{}", gap, reached ? "" : fmt::format(", not the {:.2g} asked for", options.gap)));
  report_busiest(report, topology, busiest_of(topology, bound.loads));
  report.add("seconds", took, seconds_text(took)).add("peak_memory_bytes", peak_memory_bytes(), peak_memory_text());
  print_with_files(report, topology, bound, arguments.lengths, arguments.loads, session);
  if (!reached) session.status = k_examined_is_wrong;
}

void cost_of_demand(const std::string& demand_file, const Schedule& schedule, const Topology& topology,
                    const Session& session) {
  const Demand demand = demand_argument(demand_file, topology);
  const Busiest busiest = busiest_of(topology, link_loads(schedule, topology, demand));
  const FlowBound bound = alltoallv_bound(topology, demand, {});
  const double lower = bound.time_lower / topology.slowest_bandwidth(),
               best = bound.time / topology.slowest_bandwidth();
  Report report;
  report_traffic(report, topology, demand);
  report.add("name", schedule.name)
      .add("time", busiest.seconds, fmt::format("{} by the schedule's shares", seconds_text(busiest.seconds)));
  report_busiest(report, topology, busiest);
  report.add("time_lower_bound", lower, fmt::format("{}: nothing is faster", seconds_text(lower)))
      .add("time_of_flow", best, fmt::format("{} by shares made for this traffic", seconds_text(best)))
      .add("ratio", busiest.seconds / lower, fmt::format("{:.4g} times the bound", busiest.seconds / lower));
  report.print(session);
}

}  // namespace colltopo::cli
