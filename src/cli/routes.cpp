// colltopo routes: the routes of a schedule as what a network is told.
#include <iostream>
#include <memory>
#include <sstream>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/progress.h"
#include "colltopo/error.h"
#include "colltopo/forwarding.h"

namespace colltopo::cli {

namespace {

struct Arguments {
  std::string file;
  std::string on;
  std::string form = "linux";
  std::string output = "-";
  LinuxNames names;
};

std::string text_of(const Arguments& arguments, const Schedule& schedule, const Topology& topology,
                    const ForwardingTables& tables) {
  std::ostringstream out;
  if (arguments.form == "linux")
    write_linux_routes(out, schedule, topology, tables, arguments.names);
  else
    write_json_routes(out, schedule, topology, tables);
  return out.str();
}

void run(const Arguments& arguments, Session& session) {
  Progress progress(session);
  const Schedule schedule = schedule_argument(arguments.file);
  const Topology topology = topology_of_schedule(schedule, arguments.on);
  progress.show("making tables");
  const ForwardingTables tables = forwarding_tables(schedule, topology);
  progress.show("following every lane");
  const std::vector<std::string> faults = forwarding_faults(schedule, topology, tables);
  for (const std::string& fault : faults) std::cerr << input_name(arguments.file) << ": " << fault << '\n';
  if (!faults.empty()) {
    session.status = k_examined_is_wrong;
    return;
  }
  Report report;
  report.add("name", schedule.name)
      .add("topology", topology.name())
      .add("hosts", tables.hosts())
      .add("routes", schedule.routes.size())
      .add("planes", tables.planes())
      .add("entries", tables.entries(), fmt::format("{} of all nodes", tables.entries()))
      .add("rules", tables.exceptions.size(),
           tables.exceptions.empty() ? "0: every route has room in its plane"
                                     : fmt::format("{}, for routes that their planes have no room for; "
                                                   "`colltopo generate` gives lanes that need none",
                                                   tables.exceptions.size()))
      .add("verified", true, "every lane follows its route, every plane reaches every host, no loops");
  write_output(arguments.output, text_of(arguments, schedule, topology, tables), session);
  if (arguments.output != "-") report.add("file", arguments.output);
  report.print(session, arguments.output);
}

}  // namespace

void add_routes(CLI::App& app, Session& session) {
  CLI::App* command = subcommand(app, session, "routes", "The routes of a schedule as tables of a network");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("FILE", arguments->file, "A schedule file with routes, or -")->required();
  command->add_option("--on", arguments->on, "The topology, where the file does not say how to get it");
  command->add_option("--for", arguments->form, "linux: a shell script of ip commands; json: tables and paths")
      ->check(CLI::IsMember({"linux", "json"}))
      ->capture_default_str();
  command->add_option("-o", arguments->output, "Where to write; - is standard output")->capture_default_str();
  command->add_option("--device", arguments->names.device, "linux: devices are called this and the number of the link")
      ->capture_default_str();
  command->add_option("--network", arguments->names.network, "linux: first two octets of the addresses of plane 0")
      ->capture_default_str();
  command->footer(
      "Lane k of the schedule is plane k: one table per destination, in every node. Exit status 1 when the\n"
      "tables would not do what the routes say.");
  command->callback([arguments, &session] { run(*arguments, session); });
}

}  // namespace colltopo::cli
