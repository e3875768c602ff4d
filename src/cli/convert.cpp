// colltopo convert: schedule files and topology files from one form to another.
#include <memory>
#include <sstream>

#include <fmt/format.h>

#include "cli/command.h"
#include "colltopo/error.h"
#include "colltopo/import.h"
#include "colltopo/text.h"

namespace colltopo::cli {

namespace {

struct Arguments {
  std::string file;
  std::string to = "text";
  std::string output = "-";
  bool reseal = false;
};

/// "json" of "topo-json"; "" when it is a format of schedules.
std::string topology_format(const std::string& to) {
  if (to == "topo-json") return "json";
  return to == "text" ? "" : to;
}

void convert_topology(const Arguments& arguments, const Session& session) {
  if (arguments.reseal) throw Error("--reseal is for schedule files; a topology has no seals");
  const Topology topology = topology_argument(arguments.file);
  write_output(arguments.output, export_topology(topology, topology_format(arguments.to)), session);
  if (arguments.output == "-") return;
  Report()
      .add("name", topology.name())
      .add("hosts", topology.hosts())
      .add("switches", topology.switches())
      .add("links", topology.links().size())
      .add("format", arguments.to)
      .add("file", arguments.output)
      .print(session);
}

void run(const Arguments& arguments, const Session& session) {
  if (!topology_format(arguments.to).empty()) return convert_topology(arguments, session);
  std::string contents = file_contents(arguments.file);
  if (arguments.reseal) contents = sealed(contents);
  std::istringstream in(contents);
  const Schedule schedule = read_schedule(in, input_name(arguments.file));
  std::ostringstream out;
  // A resealed file stays as its author laid it out; otherwise sections are written anew.
  if (arguments.reseal)
    out << contents;
  else
    write_schedule(out, schedule);
  write_output(arguments.output, out.str(), session);
  if (arguments.output == "-") return;
  Report()
      .add("name", schedule.name)
      .add("collective", std::string(name(schedule.shape.collective)))
      .add("ranks", schedule.shape.ranks)
      .add("steps", schedule.steps())
      .add("format", arguments.to)
      .add("resealed", arguments.reseal)
      .add("file", arguments.output)
      .print(session);
}

}  // namespace

void add_convert(CLI::App& app, Session& session) {
  CLI::App* command = subcommand(app, session, "convert", "Rewrite a schedule or topology file");
  const auto arguments = std::make_shared<Arguments>();
  command
      ->add_option("FILE", arguments->file,
                   "A schedule file (a topology, for --to topo-json, graphml, dot and edges), or -")
      ->required();
  command->add_option("--to", arguments->to, "Format to write")
      ->check(CLI::IsMember({"text", "topo-json", "graphml", "dot", "edges"}))
      ->capture_default_str();
  command->add_option("-o,--output", arguments->output, "File to write")->capture_default_str();
  command->add_flag("--reseal", arguments->reseal, "Take the file as edited by hand: make its seals and index anew");
  command->footer(
      "A parametric file becomes one with a section for every rank. What --reseal makes is readable, not proved:\n"
      "run colltopo verify on it.");
  command->callback([arguments, &session] { run(*arguments, session); });
}

}  // namespace colltopo::cli
