// colltopo generate: makes a schedule, proves it, says how near the bound it comes, and writes it.
#include "cli/generate.h"

#include <algorithm>
#include <array>
#include <iostream>
#include <memory>

#include <fmt/format.h>

#include "base/lines.h"
#include "base/replace_file.h"
#include "cli/process_team.h"
#include "colltopo/cost.h"
#include "colltopo/error.h"
#include "colltopo/text.h"

namespace colltopo::cli {

namespace {

std::array<GenerateKind, 5> kinds() { return {closed_forms(), routings(), stepped_flows(), forests(), rings()}; }

GenerateKind kind_of(const std::string& algorithm) {
  std::string names;
  for (const GenerateKind& kind : kinds()) {
    for (const std::string& name : kind.names()) {
      if (name == algorithm) return kind;
      names += " " + name;
    }
  }
  throw Error(fmt::format("algorithm {} is unknown; expected one of:{}", in_quotes(algorithm), names));
}

void run_generate(const GenerateArguments& arguments, Session& session) {
  const GenerateKind kind = kind_of(arguments.algorithm);
  if (!arguments.demand.empty() && (arguments.algorithm != "mcf" || arguments.parametric || !arguments.from.empty()))
    throw Error(fmt::format("--demand: {}; expected mcf alone, without --parametric and --from",
                            arguments.algorithm != "mcf" ? arguments.algorithm + " makes one schedule for all traffic"
                            : arguments.parametric       ? "a parametric file is for traffic that is alike everywhere"
                                                         : "the schedule of --from was made for other traffic"));
  if (arguments.spare_routes && (arguments.parametric || routing_method_named(arguments.algorithm) == nullptr))
    throw Error(fmt::format("--spare-routes: {}; expected a method of routes such as mcf, without --parametric",
                            arguments.parametric ? "a parametric file lists the routes of one rank"
                                                 : arguments.algorithm + " has no spare ones"));
  const Launch launched = launch();
  if (launched.ranks <= 1) return kind.run(arguments, session, nullptr);
  std::string obstacle;
  std::unique_ptr<ProcessTeam> team;
  if (kind.spreads(arguments.algorithm)) team = ProcessTeam::join(launched, obstacle);
  if (team != nullptr) {
    kind.run(arguments, session, team.get());
    return team->leave();
  }
  // Equal processes that write the same file would destroy it.
  if (launched.rank > 0) return;
  std::cerr << fmt::format("colltopo: started {} times; rank 0 generates, the others have ended{}{}\n", launched.ranks,
                           obstacle.empty() ? "" : ": ", obstacle);
  kind.run(arguments, session, nullptr);
}

}  // namespace

Topology Generation::topology() const { return topology_argument(arguments_.topology, arguments_.without); }

void Generation::write(const SectionedSchedule& schedule) {
  if (arguments_.output.empty()) return;
  const auto write_to = [&](std::ostream& out) {
    if (arguments_.binary)
      write_binary(out, schedule);
    else
      write_schedule(out, schedule);
  };
  if (arguments_.output == "-") {
    std::ostringstream out;
    write_to(out);
    return write_output(arguments_.output, std::move(out).str(), session_);
  }
  // Piece by piece: a schedule of a thousand ranks has hundreds of megabytes.
  progress.show("writing " + arguments_.output);
  FileDraft draft(arguments_.output);
  write_to(draft.out());
  draft.replace();
}

void Generation::write(const SymmetricSchedule& schedule) {
  std::ostringstream out;
  write_symmetric(out, schedule);
  write(std::move(out).str());
}

void Generation::write(const std::string& contents) {
  if (arguments_.binary) throw Error("--binary: a parametric file has no sections; expected one of them");
  if (!arguments_.output.empty()) write_output(arguments_.output, contents, session_);
}

void Generation::reject(const std::string& violation) {
  report.add("verified", false, "no: " + violation);
  session_.status = k_examined_is_wrong;
  rejected_ = true;
}

void Generation::end() {
  progress.clear();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  const std::string nowhere = rejected_ ? "none: it is wrong" : "none: -o FILE writes it";
  const bool written = !arguments_.output.empty() && !rejected_;
  report.add("seconds", seconds, seconds_text(seconds))
      .add("peak_memory_bytes", peak_memory_bytes(), peak_memory_text())
      .add("file", arguments_.output, written ? arguments_.output : nowhere)
      .print(session_, arguments_.output);
}

std::string report_bound(Report& report, const Schedule& schedule, const Topology& topology) {
  const Cost cost = cost_of(schedule, topology);
  const BandwidthBound bound = bandwidth_bound(schedule.shape, topology);
  double fastest = 0;  // bytes per second: turns seconds per byte into a load
  for (const Link& link : topology.links()) fastest = std::max(fastest, link.bandwidth);
  const double achieved = cost.busiest_link_s_per_byte * fastest;
  const double least = bound.seconds_per_byte * fastest;
  const double gap = least > 0 ? achieved / least - 1 : 0;
  report.add("messages", cost.messages)
      .add("achieved", achieved, fmt::format("{:.6g} times the bytes of a call over the busiest link", achieved))
      .add("bound", least,
           fmt::format("{:.6g}: {}", least, bound.reason.empty() ? "nothing has to move" : bound.reason))
      .add("gap", gap, fmt::format("{:.2f}%", 100 * gap));
  return fmt::format("busiest link {:.6g}, bound {:.6g} times the bytes of a call", achieved, least);
}

void add_generate(CLI::App& app, Session& session) {
  CLI::App* command = subcommand(app, session, "generate", "Make a schedule, proved before it is written");
  const auto arguments = std::make_shared<GenerateArguments>();
  command->add_option("ALGORITHM", arguments->algorithm, "One of those below")->required();
  command->add_option("TOPO", arguments->topology, "A topology file, - or a spec such as torus:4x4; one rank per host")
      ->required();
  command->add_option("-c,--collective", arguments->collective, "Default: the first that the algorithm does");
  command->add_option("-o,--output", arguments->output, "Schedule file to write; - is standard output");
  command->add_flag("--binary", arguments->binary,
                    "Write the binary form of the file: a tenth of the text's size or less, read by section");
  add_without(*command, arguments->without);
  std::string algorithms = "Algorithms:\n";
  for (const GenerateKind& kind : kinds()) {
    kind.add_options(*command, *arguments);
    algorithms += kind.algorithms();
  }
  command->footer(algorithms + "\nTopologies:\n" + topology_specs());
  command->callback([arguments, &session] { run_generate(*arguments, session); });
}

}  // namespace colltopo::cli
