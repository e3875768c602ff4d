// colltopo verify: proves that a schedule is its collective, and that it fits a network.
#include "colltopo/verify.h"

#include <iostream>
#include <memory>
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

struct VerifyArguments {
  std::string file;
  std::string format;
  std::string on;
  std::string routes;  // a file of tables
  bool lossy = false;
};

std::size_t layers_of(const Schedule& schedule) {
  std::set<std::int32_t> layers;
  for (const Route& route : schedule.routes) layers.insert(route.layer);
  return layers.size();
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

void run_verify(const VerifyArguments& arguments, Session& session) {
  if (arguments.file != "-" && arguments.routes.empty() && is_in_sections(arguments.file))
    return verify_sections_file(arguments.file, arguments.on, arguments.lossy, session);
  const std::string contents = file_contents(arguments.file);
  // Tables are of every host, so that with them it is written out whole.
  if (const auto symmetric = symmetric_in(contents, input_name(arguments.file)); symmetric && arguments.routes.empty())
    return verify_symmetric_file(*symmetric, input_name(arguments.file), arguments.on, arguments.lossy, session);
  const Schedule schedule = schedule_in(contents, input_name(arguments.file), arguments.format, arguments.on);
  Verdict verdict = verify(schedule);
  check_claims(schedule.proof, verdict);
  nlohmann::ordered_json properties = properties_of(verdict);
  std::string on_text;
  if (!arguments.on.empty() || !arguments.routes.empty()) {
    const Topology topology = topology_of_schedule(schedule, arguments.on);
    const std::vector<Violation> misfits =
        verify_on(schedule, topology, arguments.lossy ? Fabric::lossy : Fabric::lossless);
    verdict.violations.insert(verdict.violations.end(), misfits.begin(), misfits.end());
    if (misfits.empty()) {
      const Cost cost = cost_of(schedule, topology);
      on_text = network_text({cost, link_loads(schedule, topology), schedule.routes.size(), layers_of(schedule)},
                             topology, schedule.bound, properties);
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
  const auto arguments = std::make_shared<VerifyArguments>();
  command->add_option("FILE", arguments->file, "A schedule file, or -")->required();
  add_schedule_format(*command, arguments->format);
  command->add_option("--on", arguments->on, "Also prove that it fits this topology: hosts, paths, routes, layers");
  command->add_option("--routes", arguments->routes,
                      "Also prove that these tables (colltopo routes --for json) send every lane along its route");
  command->add_flag("--lossy", arguments->lossy, "The network drops packets: cycles within layers do no harm");
  command->footer("Exit status 1 when it is wrong; each violation is a line with its rank and op.");
  command->callback([arguments, &session] { run_verify(*arguments, session); });
}

}  // namespace colltopo::cli
