// colltopo routes: the routes of a schedule as what a network is told.
#include <algorithm>
#include <iostream>
#include <iterator>
#include <memory>
#include <sstream>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/progress.h"
#include "colltopo/error.h"
#include "colltopo/forwarding.h"
#include "colltopo/text.h"
#include "colltopo/verify_sections.h"
#include "colltopo/verify_symmetric.h"

namespace colltopo::cli {

namespace {

struct RoutesArguments {
  std::string file;
  std::string on;
  std::string form = "linux";
  std::string output = "-";
  std::string host;
  LinuxNames names;
};

std::string routes_text(const RoutesArguments& arguments, const Schedule& schedule, const Topology& topology,
                        const ForwardingTables& tables) {
  std::ostringstream out;
  if (arguments.form == "linux")
    write_linux_routes(out, schedule, topology, tables, arguments.names);
  else
    write_json_routes(out, schedule, topology, tables);
  return out.str();
}

/// The routes of one host: target, lane, layer and links, with the names of nodes.
nlohmann::ordered_json routes_json(std::span<const Route> routes, const Topology& topology, NodeId host) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const Route& route : routes) {
    nlohmann::ordered_json through = nlohmann::ordered_json::array();
    for (const LinkId link : route.links) through.push_back(topology.node_name(topology.link(link).head));
    all.push_back({{"target", topology.node_name(route.target)},
                   {"lane", route.lane},
                   {"layer", route.layer},
                   {"links", route.links},
                   {"through", std::move(through)}});
  }
  return {{"host", topology.node_name(host)}, {"topology", topology.name()}, {"routes", std::move(all)}};
}

NodeId host_named(const Topology& topology, const std::string& name) {
  for (NodeId host = 0; host < topology.hosts(); ++host)
    if (topology.node_name(host) == name) return host;
  throw Error(fmt::format("--host {}: {} has no host of this name", name, topology.name()));
}

void write_routes_of(NodeId host, std::span<const Route> routes, const Topology& topology,
                     const RoutesArguments& arguments, Session& session) {
  write_output(arguments.output, json_text(routes_json(routes, topology, host)) + "\n", session);
  if (arguments.output == "-") return;
  Report()
      .add("host", topology.node_name(host))
      .add("topology", topology.name())
      .add("routes", routes.size())
      .add("file", arguments.output)
      .print(session);
}

/// Whether there are violations, which are printed.
bool is_wrong(const std::vector<Violation>& violations, const std::string& file, Session& session) {
  for (const Violation& violation : violations) std::cerr << file << ": " << to_string(violation) << '\n';
  if (!violations.empty()) session.status = k_examined_is_wrong;
  return !violations.empty();
}

void run_for_host_in_sections(const RoutesArguments& arguments, Session& session) {
  ScheduleFile file(arguments.file);
  const SectionedSchedule schedule = *file.sections();
  const Topology topology = topology_of_schedule(schedule.facts, arguments.on);
  const NodeId host = host_named(topology, arguments.host);
  if (is_wrong(examine_on(schedule, topology, Fabric::lossy).violations, arguments.file, session)) return;
  const std::vector<Route> routes = schedule.has_routes ? schedule.routes(host) : std::vector<Route>();
  write_routes_of(host, routes, topology, arguments, session);
}

/// A symmetric schedule is not written out whole for this.
void run_for_host(const RoutesArguments& arguments, Session& session) {
  if (arguments.file != "-" && is_in_sections(arguments.file)) return run_for_host_in_sections(arguments, session);
  const std::string contents = file_contents(arguments.file), file = input_name(arguments.file);
  const auto symmetric = symmetric_in(contents, file);
  const Schedule schedule = symmetric ? Schedule{} : schedule_in(contents, file);
  const Topology topology =
      symmetric ? topology_of_schedule(*symmetric, arguments.on) : topology_of_schedule(schedule, arguments.on);
  const NodeId host = host_named(topology, arguments.host);
  const std::vector<Violation> violations = symmetric
                                                ? verify_symmetric_on(*symmetric, topology, Fabric::lossy).violations
                                                : verify_on(schedule, topology, Fabric::lossy);
  if (is_wrong(violations, file, session)) return;
  std::vector<Route> routes;
  if (symmetric)
    routes = routes_from(*symmetric, topology, host);
  else
    std::ranges::copy_if(schedule.routes, std::back_inserter(routes), [&](const Route& r) { return r.source == host; });
  write_routes_of(host, routes, topology, arguments, session);
}

void run_routes(const RoutesArguments& arguments, Session& session) {
  if (!arguments.host.empty()) return run_for_host(arguments, session);
  Progress progress(session);
  const Schedule schedule = schedule_argument(arguments.file, "", arguments.on);
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
  write_output(arguments.output, routes_text(arguments, schedule, topology, tables), session);
  if (arguments.output != "-") report.add("file", arguments.output);
  report.print(session, arguments.output);
}

}  // namespace

void add_routes(CLI::App& app, Session& session) {
  CLI::App* command = subcommand(app, session, "routes", "The routes of a schedule as tables of a network");
  const auto arguments = std::make_shared<RoutesArguments>();
  command->add_option("FILE", arguments->file, "A schedule file with routes, or -")->required();
  command->add_option("--on", arguments->on, "The topology, where the file does not say how to get it");
  command->add_option("--for", arguments->form, "linux: a shell script of ip commands; json: tables and paths")
      ->check(CLI::IsMember({"linux", "json"}))
      ->capture_default_str();
  command->add_option("-o", arguments->output, "Where to write; - is standard output")->capture_default_str();
  command->add_option("--host", arguments->host, "Only the routes of this host, by its name, as JSON");
  command->add_option("--device", arguments->names.device, "linux: devices are called this and the number of the link")
      ->capture_default_str();
  command->add_option("--network", arguments->names.network, "linux: first two octets of the addresses of plane 0")
      ->capture_default_str();
  command->footer(
      "Lane k of the schedule is plane k: one table per destination, in every node. Exit status 1 when the\n"
      "tables would not do what the routes say.");
  command->callback([arguments, &session] { run_routes(*arguments, session); });
}

}  // namespace colltopo::cli
