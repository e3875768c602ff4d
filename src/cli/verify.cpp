// colltopo verify: proves that a schedule is its collective, and that it fits a network.
#include "colltopo/verify.h"

#include <algorithm>
#include <iostream>
#include <memory>
#include <numeric>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/verify_report.h"
#include "cli/verify_sections.h"
#include "cli/verify_symmetric.h"
#include "colltopo/cost.h"
#include "colltopo/forwarding.h"
#include "colltopo/text.h"

namespace colltopo::cli {

namespace {

struct Arguments {
  std::string file;
  std::string format;
  std::string on;
  std::string routes;  // a file of tables
  bool lossy = false;
};

/// Routes, layers, and what links carry over the whole schedule, next to what the file claims.
std::string loads_text(const Schedule& schedule, const Topology& topology, const Cost& cost,
                       nlohmann::ordered_json& properties) {
  const std::vector<double> loads = link_loads(schedule, topology);
  if (cost.busiest_link < 0) return "";
  const double busiest = loads[static_cast<std::size_t>(cost.busiest_link)];
  const double mean = std::accumulate(loads.begin(), loads.end(), 0.0) / static_cast<double>(loads.size());
  properties["busiest_link"] = cost.busiest_link;
  properties["busiest_link_load"] = busiest;
  properties["mean_link_load"] = mean;
  std::string text;
  if (!schedule.routes.empty()) {
    std::set<std::int32_t> layers;
    for (const Route& route : schedule.routes) layers.insert(route.layer);
    properties["routes"] = schedule.routes.size();
    properties["layers"] = layers.size();
    text = fmt::format("routes: {} in {}\n", schedule.routes.size(), counted(layers.size(), "layer"));
  }
  return text + fmt::format("loads: {:.6g} times the bytes of a call over the busiest link, {}, {:.6g} on average{}\n",
                            busiest, topology.link_name(cost.busiest_link), mean,
                            schedule.bound.empty() ? "" : "; the file says: " + schedule.bound);
}

/// Tables that do not send every lane along its route.
void check_tables(const std::string& file, const Schedule& schedule, const Topology& topology, Verdict& verdict,
                  std::string& text) {
  std::istringstream in(file_contents(file));
  const ForwardingTables tables = read_json_routes(in, input_name(file), schedule, topology);
  const std::vector<std::string> faults = forwarding_faults(schedule, topology, tables);
  for (const std::string& fault : faults) verdict.violations.push_back({-1, -1, input_name(file) + ": " + fault});
  if (faults.empty())
    text += fmt::format(
        "tables: {} entries in {} send every lane along its route and every plane to every host, free of loops\n",
        tables.entries(), counted(static_cast<std::size_t>(tables.planes()), "plane"));
}

void run(const Arguments& arguments, Session& session) {
  if (arguments.file != "-" && arguments.routes.empty() && is_in_sections(arguments.file))
    return verify_sections_file(arguments.file, arguments.on, arguments.lossy, session);
  const std::string contents = file_contents(arguments.file);
  // Tables are of every host, so that with them it is written out whole.
  if (const auto symmetric = symmetric_in(contents, input_name(arguments.file)); symmetric && arguments.routes.empty())
    return verify_symmetric_file(*symmetric, input_name(arguments.file), arguments.on, arguments.lossy, session);
  const Schedule schedule = schedule_in(contents, input_name(arguments.file), arguments.format, arguments.on);
  Verdict verdict = verify(schedule);
  check_claims(schedule.proof, verdict);
  nlohmann::ordered_json properties = {{"in_place", verdict.in_place},
                                       {"keeps_rank_order", verdict.keeps_rank_order},
                                       {"same_on_all_ranks", verdict.same_on_all_ranks},
                                       {"stepped", verdict.stepped}};
  std::string on_text;
  if (!arguments.on.empty() || !arguments.routes.empty()) {
    const Topology topology = topology_of_schedule(schedule, arguments.on);
    const std::vector<Violation> misfits =
        verify_on(schedule, topology, arguments.lossy ? Fabric::lossy : Fabric::lossless);
    verdict.violations.insert(verdict.violations.end(), misfits.begin(), misfits.end());
    if (misfits.empty()) {
      const Cost cost = cost_of(schedule, topology);
      std::size_t most = 0;
      for (const StepCost& step : cost.steps) most = std::max(most, step.most_messages_on_a_link);
      properties["neighbours_only"] = cost.neighbours_only;
      properties["messages_on_a_link_per_step"] = most;
      on_text = fmt::format("on {}: {}; at most {} on a link in a step\n", topology.name(),
                            cost.neighbours_only ? "all messages between neighbours" : "messages pass other hosts",
                            counted(most, "message"));
      on_text += loads_text(schedule, topology, cost, properties);
      if (!arguments.routes.empty()) check_tables(arguments.routes, schedule, topology, verdict, on_text);
    }
  }
  const std::string text = '\n' + properties_text(verdict, schedule.shape.collective) + '\n' + on_text;
  report_examined({schedule.name, schedule.shape, std::move(verdict.violations), std::move(properties), text},
                  input_name(arguments.file), session);
}

}  // namespace

void add_verify(CLI::App& app, Session& session) {
  CLI::App* command = subcommand(app, session, "verify", "Prove that a schedule is right");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("FILE", arguments->file, "A schedule file, or -")->required();
  add_schedule_format(*command, arguments->format);
  command->add_option("--on", arguments->on, "Also prove that it fits this topology: hosts, paths, routes, layers");
  command->add_option("--routes", arguments->routes,
                      "Also prove that these tables (colltopo routes --for json) send every lane along its route");
  command->add_flag("--lossy", arguments->lossy, "The network drops packets: cycles within layers do no harm");
  command->footer("Exit status 1 when it is wrong; each violation is a line with its rank and op.");
  command->callback([arguments, &session] { run(*arguments, session); });
}

}  // namespace colltopo::cli
