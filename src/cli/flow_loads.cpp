#include "cli/flow_loads.h"

#include <fmt/format.h>

#include "cli/certificate.h"

namespace colltopo::cli {

namespace {

std::string loads_file(const Topology& topology, const FlowBound& bound) {
  const std::vector<double> capacity = capacities(topology);
  std::string file = "link,tail,head,bandwidth,load,utilisation\n";
  for (LinkId link = 0; link < static_cast<LinkId>(bound.loads.size()); ++link) {
    const auto at = static_cast<std::size_t>(link);
    file += fmt::format("{}{:.10g},{:.10g},{:.6f}\n", line_start(topology, link), topology.link(link).bandwidth,
                        bound.loads[at], bound.loads[at] / capacity[at] / bound.time);
  }
  return file;
}

}  // namespace

void print_with_files(Report& report, const Topology& topology, const FlowBound& bound, const std::string& lengths,
                      const std::string& loads, const Session& session) {
  if (!lengths.empty()) {
    write_output(lengths, lengths_file(topology, bound), session);
    report.add("lengths", lengths);
  }
  if (!loads.empty()) {
    write_output(loads, loads_file(topology, bound), session);
    report.add("loads", loads);
  }
  report.print(session, lengths == "-" || loads == "-" ? "-" : "");
}

}  // namespace colltopo::cli
