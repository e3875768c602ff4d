// colltopo convert: schedule files and topology files from one form to another.
#include <memory>
#include <sstream>

#include <fmt/format.h>

#include "cli/command.h"
#include "colltopo/error.h"
#include "colltopo/formats.h"
#include "colltopo/import.h"
#include "colltopo/text.h"
#include "colltopo/verify.h"

namespace colltopo::cli {

namespace {

struct ConvertArguments {
  std::string file;
  std::string format;
  std::string to = "text";
  std::string output = "-";
  bool reseal = false;
  MscclOptions msccl;
  bool in_place = false;
  bool only_in_place = false;
};

/// "json" of "topo-json"; "" when it is a format of schedules.
std::string topology_format(const std::string& to) {
  if (to == "topo-json") return "json";
  return to == "text" || to == "binary" || to == "msccl-xml" || to == "oneccl-xml" ? "" : to;
}

void convert_topology(const ConvertArguments& arguments, const Session& session) {
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

// What the runtimes' tables hold, by their public sources.
constexpr MscclSize k_usual_limits{216, 256, 32};

std::string written_msccl(const ConvertArguments& arguments, const Schedule& schedule, Report& report) {
  MscclOptions options = arguments.msccl;
  if (arguments.in_place || arguments.only_in_place) options.in_place = true;
  options.out_of_place = !arguments.only_in_place;
  MscclSize size;
  std::string text = msccl_xml(schedule, options, &size);
  report.add("thread_blocks", size.thread_blocks, fmt::format("{} on a GPU at most", size.thread_blocks))
      .add("thread_block_steps", size.steps, fmt::format("{} in a thread block at most", size.steps))
      .add("channels", size.channels);
  if (size.thread_blocks > k_usual_limits.thread_blocks || size.steps > k_usual_limits.steps ||
      size.channels > k_usual_limits.channels)
    report.add("too_large_for", "msccl",
               fmt::format("MSCCL as it is public: {} thread blocks, {} steps, {} channels",
                           k_usual_limits.thread_blocks, k_usual_limits.steps, k_usual_limits.channels));
  return text;
}

/// With its proof, if it is right.
std::string written(Schedule schedule, bool binary) {
  if (!schedule.proof) {
    if (const Verdict verdict = verify(schedule); verdict.valid()) schedule.proof = proof_of(verdict);
  }
  std::ostringstream out;
  if (binary)
    write_binary(out, sections_of(schedule));
  else
    write_schedule(out, schedule);
  return out.str();
}

void run_convert(const ConvertArguments& arguments, const Session& session) {
  if (!topology_format(arguments.to).empty()) return convert_topology(arguments, session);
  if (arguments.reseal && arguments.to != "text")
    throw Error(fmt::format("--reseal --to {}: only the text format has seals", arguments.to));
  std::string contents = file_contents(arguments.file);
  if (arguments.reseal) contents = sealed(contents);
  const Schedule schedule = schedule_in(contents, input_name(arguments.file), arguments.format);
  Report report;
  report.add("name", schedule.name)
      .add("collective", std::string(name(schedule.shape.collective)))
      .add("ranks", schedule.shape.ranks)
      .add("steps", schedule.steps())
      .add("format", arguments.to);
  // A resealed file stays as its author laid it out; otherwise sections are written anew.
  const std::string contents_written = arguments.to == "msccl-xml"    ? written_msccl(arguments, schedule, report)
                                       : arguments.to == "oneccl-xml" ? oneccl_xml(schedule)
                                       : arguments.reseal             ? contents
                                                                      : written(schedule, arguments.to == "binary");
  write_output(arguments.output, contents_written, session);
  if (arguments.output == "-") return;
  report.add("resealed", arguments.reseal).add("file", arguments.output).print(session);
}

void add_msccl_options(CLI::App& command, ConvertArguments& arguments) {
  const std::string group = "MSCCL";
  command.add_option("--proto", arguments.msccl.protocol, "Protocol")
      ->check(CLI::IsMember({"Simple", "LL", "LL128"}))
      ->capture_default_str()
      ->group(group);
  command.add_option("--min-bytes", arguments.msccl.min_bytes, "Of the calls that it is for")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str()
      ->group(group);
  command.add_option("--max-bytes", arguments.msccl.max_bytes, "Likewise")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str()
      ->group(group);
  CLI::Option* const both =
      command.add_flag("--inplace", arguments.in_place, "Say inplace=\"1\" also where it is not proved");
  command
      .add_flag("--no-outofplace", arguments.only_in_place, "For calls in place only: inplace=\"1\" outofplace=\"0\"")
      ->excludes(both)
      ->group(group);
  both->group(group);
  command.add_flag("--rccl", arguments.msccl.rccl, "Spell reduce_scatter as RCCL's executor does: reducescatter")
      ->group(group);
}

}  // namespace

void add_convert(CLI::App& app, Session& session) {
  CLI::App* command = subcommand(app, session, "convert", "Rewrite a schedule or topology file");
  const auto arguments = std::make_shared<ConvertArguments>();
  command
      ->add_option("FILE", arguments->file,
                   "A schedule file (a topology, for --to topo-json, graphml, dot and edges), or -")
      ->required();
  add_schedule_format(*command, arguments->format);
  command->add_option("--to", arguments->to, "Format to write")
      ->check(CLI::IsMember({"text", "binary", "msccl-xml", "oneccl-xml", "topo-json", "graphml", "dot", "edges"}))
      ->capture_default_str();
  command->add_option("-o,--output", arguments->output, "File to write")->capture_default_str();
  command->add_flag("--reseal", arguments->reseal, "Take the file as edited by hand: make its seals and index anew");
  add_msccl_options(*command, *arguments);
  command->footer(
      "A parametric file becomes one with a section for every rank. What --reseal makes is readable, not proved:\n"
      "run colltopo verify on it.");
  command->callback([arguments, &session] { run_convert(*arguments, session); });
}

}  // namespace colltopo::cli
