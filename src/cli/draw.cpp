// colltopo draw: a topology, a schedule, a step of it or its link loads, as SVG or as text.
#include "colltopo/draw.h"

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/loads_file.h"
#include "colltopo/cost.h"
#include "colltopo/error.h"
#include "colltopo/formats.h"
#include "colltopo/import.h"
#include "colltopo/verify_symmetric.h"

namespace colltopo::cli {

namespace {

struct DrawArguments {
  std::string subject;
  std::string on;
  std::string output;
  std::optional<Step> step;
  bool loads = false;
  std::string loads_from;
  double darkest = 0;
  std::string title;
};

struct Drawing {
  std::string kind;
  std::string text;
  std::string note = {};  // why it is not what was asked for
};

bool ends_with(const std::string& text, std::string_view end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/// The subject's contents, when it is the file of a schedule; otherwise `contents` are what was read, if anything.
bool is_schedule(const std::string& subject, std::string& contents) {
  try {
    contents = file_contents(subject);
  } catch (const Error&) {
    return false;  // a spec string, or topology_argument says what is wrong
  }
  return contents.starts_with("topo-schedule") || is_msccl_xml(contents);
}

/// Of an all-to-all of single shards along shortest paths.
std::vector<double> alltoall_loads(const Topology& topology) {
  const ShortestPaths paths(topology);
  std::vector<double> loads(topology.links().size(), 0);
  for (NodeId source = 0; source < topology.hosts(); ++source)
    for (NodeId target = 0; target < topology.hosts(); ++target)
      for (const LinkId link : paths.path(source, target)) ++loads[static_cast<std::size_t>(link)];
  return loads;
}

Drawing loads_drawing(const Topology& topology, const std::vector<double>& loads, const std::string& title,
                      const DrawArguments& arguments, bool svg, LoadScale scale = {}) {
  scale.darkest = arguments.darkest;
  return {"loads", svg ? topology_svg(topology, loads, arguments.title.empty() ? title : arguments.title, scale)
                       : topology_text(topology, loads, scale)};
}

Drawing topology_drawing(const Topology& topology, const DrawArguments& arguments, bool svg) {
  if (arguments.step || !arguments.on.empty())
    throw Error(fmt::format("{}: a topology has no steps; --step and --on need a schedule file", topology.name()));
  if (!arguments.loads_from.empty()) {
    const FiledLoads filed = loads_in_file(arguments.loads_from, topology);
    return loads_drawing(topology, filed.loads, topology.name() + ": " + arguments.loads_from, arguments, svg,
                         filed.scale);
  }
  if (arguments.loads)
    return loads_drawing(topology, alltoall_loads(topology), topology.name() + ": an all-to-all along shortest paths",
                         arguments, svg);
  return {"topology", svg ? topology_svg(topology, {}, arguments.title) : topology_text(topology)};
}

Drawing schedule_loads(const Schedule& schedule, const Topology& topology, const DrawArguments& arguments, bool svg) {
  const std::string title = fmt::format("{} on {}{}", schedule.name, topology.name(),
                                        arguments.step ? fmt::format(", step {}", *arguments.step) : "");
  return loads_drawing(topology, link_loads(schedule, topology, arguments.step.value_or(0)), title, arguments, svg);
}

/// What there is to see of a schedule with more messages than can be drawn: the loads on its network, else who sends
/// how much to whom.
Drawing overview(const Schedule& schedule, std::size_t messages, const DrawArguments& arguments) {
  const std::string too_many =
      fmt::format("{} messages, of which at most {} can be read as arrows", messages, k_most_marks);
  if (!schedule.topology_name.empty()) {
    try {
      const Topology topology = topology_of_schedule(schedule, "");
      Drawing drawing = schedule_loads(schedule, topology, arguments, true);
      drawing.note = fmt::format("{}: these are their loads on {}", too_many, topology.name());
      return drawing;
    } catch (const Error&) {
      // The topology was a file that is not here: the schedule alone can be shown.
    }
  }
  return {"traffic", traffic_svg(schedule, arguments.step.value_or(0)),
          too_many + ": this is what ranks send to each other; --on TOPO draws the loads on a network"};
}

Drawing schedule_drawing(const Schedule& schedule, const DrawArguments& arguments, bool svg) {
  const Step steps = schedule.steps();
  if (arguments.step && (*arguments.step < 0 || *arguments.step > steps))
    throw Error(fmt::format("{}: step {}; allowed are 0 (before the first message) to {}", schedule.name,
                            *arguments.step, steps));
  if (!arguments.loads_from.empty())
    throw Error("--loads-from: has loads of a topology's links; expected a topology in place of the schedule");
  if (!arguments.on.empty()) return schedule_loads(schedule, topology_argument(arguments.on), arguments, svg);
  if (arguments.loads) {
    if (schedule.topology_name.empty()) throw Error("--loads of a schedule needs the network: add --on TOPO");
    return schedule_loads(schedule, topology_of_schedule(schedule, ""), arguments, svg);
  }
  if (svg) {
    const std::vector<Message> messages = messages_of(schedule);
    const auto marks = arguments.step ? std::count_if(messages.begin(), messages.end(),
                                                      [&](const Message& m) { return m.step == *arguments.step; })
                                      : static_cast<std::ptrdiff_t>(messages.size());
    if (static_cast<std::size_t>(marks) > k_most_marks)
      return overview(schedule, static_cast<std::size_t>(marks), arguments);
  }
  if (arguments.step) return {"step", svg ? step_svg(schedule, *arguments.step) : step_text(schedule, *arguments.step)};
  return {"schedule", svg ? schedule_svg(schedule) : schedule_text(schedule)};
}

/// What a symmetric schedule of any size loads on its links.
std::optional<Drawing> symmetric_loads(const std::string& contents, const DrawArguments& arguments, bool svg) {
  if (arguments.step || !arguments.loads_from.empty() || (arguments.on.empty() && !arguments.loads))
    return std::nullopt;
  const auto symmetric = symmetric_in(contents, input_name(arguments.subject));
  if (!symmetric) return std::nullopt;
  const Topology topology = topology_of_schedule(*symmetric, arguments.on);
  cost_of(*symmetric, topology);  // throws where it does not fit
  const std::string title = fmt::format("{} on {}", symmetric->name, topology.name());
  return loads_drawing(topology, link_loads(*symmetric, topology), title, arguments, svg);
}

Drawing drawing_of(const DrawArguments& arguments, bool svg) {
  std::string contents;
  if (is_schedule(arguments.subject, contents)) {
    if (auto loads = symmetric_loads(contents, arguments, svg)) return std::move(*loads);
    return schedule_drawing(schedule_in(contents, input_name(arguments.subject), "", arguments.on), arguments, svg);
  }
  if (arguments.subject != "-") return topology_drawing(topology_argument(arguments.subject), arguments, svg);
  return topology_drawing(import_topology(contents, input_name("-")), arguments, svg);
}

void run_draw(const DrawArguments& arguments, const Session& session) {
  const bool svg = !arguments.output.empty() && !ends_with(arguments.output, ".txt");
  const Drawing drawing = drawing_of(arguments, svg);
  Report report;
  report.add("kind", drawing.kind).add("format", svg ? "svg" : "text");
  if (!drawing.note.empty()) report.add("note", drawing.note);
  if (arguments.output.empty()) {
    if (session.json)
      report.add("text", drawing.text).print(session);
    else
      std::cout << drawing.text;
    return;
  }
  write_output(arguments.output, drawing.text, session);
  if (arguments.output != "-") report.add("file", arguments.output).print(session);
}

}  // namespace

void add_draw(CLI::App& app, Session& session) {
  CLI::App* command = subcommand(app, session, "draw", "Picture of a topology, a schedule, a step or link loads");
  const auto arguments = std::make_shared<DrawArguments>();
  command->add_option("SUBJECT", arguments->subject, "A schedule file, a topology file, - or a spec such as torus:4x4")
      ->required();
  command->add_option("--step", arguments->step, "One step of the schedule");
  command->add_option("--on", arguments->on,
                      "Draw what the schedule (or the step) loads on the links of this topology");
  command->add_flag("--loads", arguments->loads,
                    "Link loads: of the schedule on its topology (or --on), or of an all-to-all on the topology");
  command->add_option("--loads-from", arguments->loads_from,
                      "Link loads of a file: link,tail,head and load or bytes, as `bound --loads` writes it");
  command
      ->add_option("--darkest", arguments->darkest,
                   "The load that is drawn darkest, to compare pictures; else that of the busiest link")
      ->check(number(0));
  command->add_option("--title", arguments->title, "Of a picture of a topology or of loads");
  command->add_option("-o,--output", arguments->output,
                      "SVG file (text if it ends in .txt); without it, text on the terminal");
  command->callback([arguments, &session] { run_draw(*arguments, session); });
}

}  // namespace colltopo::cli
