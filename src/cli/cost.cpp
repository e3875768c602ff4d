// colltopo cost: time of a schedule on a network by the prices that coll/topo chooses by, next to what bandwidth makes
// every schedule take.
#include "colltopo/cost.h"
#include "base/lines.h"

#include <charconv>
#include <iostream>
#include <memory>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/demand.h"
#include "cli/machine.h"
#include "cli/steps_report.h"
#include "colltopo/error.h"
#include "colltopo/text.h"
#include "colltopo/verify_sections.h"
#include "colltopo/verify_symmetric.h"
#include "prepare/network_profile.h"

namespace colltopo::cli {

namespace {

struct CostArguments {
  std::string file;
  std::string format;
  std::string topology;
  std::string bytes;
  std::string demand;  // file, in place of bytes
  std::string overhead;
  std::vector<std::string> settings;
  std::string segments = "1";
  bool steps = false;
};

void print_steps(const Cost& cost, const Topology& topology) {
  std::cout << "\nstep  messages  of a rank  on a link  busiest link         load\n";
  for (const StepCost& step : cost.steps) {
    const bool none = step.busiest_link < 0;
    std::cout << fmt::format("{:>4}  {:>8}  {:>9}  {:>9}  {:<17} {:>7.4g}\n", step.step, step.messages,
                             step.most_messages_of_a_rank, step.most_messages_on_a_link,
                             none ? "none" : topology.link_name(step.busiest_link),
                             none ? 0.0 : step.busiest_link_s_per_byte * topology.link(step.busiest_link).bandwidth);
  }
}

/// The machine's constants, the network's own and what is told.
Machine machine_for(const CostArguments& arguments, const Topology& topology) {
  Machine machine = machine_on(topology, arguments.settings);
  if (arguments.overhead.empty()) return machine;
  if (!parse_latency(arguments.overhead, machine.overhead) || machine.overhead < 0)
    throw Error(fmt::format("--overhead {}; expected a number of 0 or more and one of ns us ms s",
                            in_quotes(arguments.overhead)));
  return machine;
}

/// 0: auto.
int segments_argument(const std::string& text) {
  constexpr int k_most = 1 << 20;
  int segments = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), segments);
  if (text == "auto") return 0;
  if (error != std::errc{} || end != text.data() + text.size() || segments < 1 || segments > k_most)
    throw Error(fmt::format("--segments {}; expected auto or a number in 1..{}", in_quotes(text), k_most));
  return segments;
}

/// A schedule and what it costs. A symmetric or binary one of many ranks has no programs here, and no segments.
struct Costed {
  Schedule schedule;
  Cost cost;
  bool whole = true;
  Step steps = 1;  // where it is not whole
};

/// Of a binary file of so many ranks that it is not read whole; nothing of any other.
std::optional<Costed> costed_in_sections(const CostArguments& arguments, const Topology& topology, int given_segments) {
  if (arguments.file == "-" || !is_in_sections(arguments.file)) return {};
  ScheduleFile file(arguments.file);
  if (file.header().shape.ranks <= k_most_ranks_expanded) return {};
  if (given_segments != 1)
    throw Error(fmt::format("{}: {} ranks, which are read section by section; expected --segments 1", arguments.file,
                            file.header().shape.ranks));
  const SectionedSchedule sections = *file.sections();
  SectionsOn on = examine_on(sections, topology, Fabric::lossy);
  if (!on.violations.empty()) throw Error(fmt::format("{}: {}", arguments.file, to_string(on.violations.front())));
  return Costed{sections.facts, std::move(on.cost), false, sections.steps};
}

Costed costed(const CostArguments& arguments, const Topology& topology, int given_segments) {
  if (auto in_sections = costed_in_sections(arguments, topology, given_segments)) return *std::move(in_sections);
  const std::string contents = file_contents(arguments.file), file = input_name(arguments.file);
  Costed result;
  const auto symmetric = symmetric_in(contents, file);
  if (!symmetric || symmetric->shape.ranks <= k_most_ranks_expanded) {
    result.schedule = schedule_in(contents, file, arguments.format, arguments.topology);
    result.cost = cost_of(result.schedule, topology);
    return result;
  }
  if (given_segments != 1)
    throw Error(
        fmt::format("{}: {} ranks of a symmetric schedule, which is not written out whole; expected --segments 1", file,
                    symmetric->shape.ranks));
  result.schedule.name = symmetric->name;
  result.schedule.shape = symmetric->shape;
  result.cost = cost_of(*symmetric, topology);
  result.whole = false;
  return result;
}

void run_cost(const CostArguments& arguments, const Session& session) {
  const int given_segments = segments_argument(arguments.segments);
  if (arguments.demand.empty() == arguments.bytes.empty())
    throw Error("cost: expected --bytes LIST, or --demand FILE in its place");
  if (!arguments.demand.empty()) {
    const Topology topology = topology_argument(arguments.topology);
    const Schedule schedule =
        schedule_in(file_contents(arguments.file), input_name(arguments.file), arguments.format, arguments.topology);
    return cost_of_demand(arguments.demand, schedule, topology, session);
  }
  const std::vector<std::size_t> sizes = bytes_argument(arguments.bytes);
  const Topology topology = topology_argument(arguments.topology);
  const Costed given = costed(arguments, topology, given_segments);
  const Schedule& schedule = given.schedule;
  const Cost& cost = given.cost;
  const BandwidthBound bound = bandwidth_bound(schedule.shape, topology);
  const Machine machine = machine_for(arguments, topology);
  std::optional<prepare::Priced> price;  // from programs, which a large symmetric schedule is not expanded to
  if (given.whole) price.emplace(schedule, topology, std::span<const int>{}, machine, prepare::Cut::any);

  nlohmann::ordered_json results = nlohmann::ordered_json::array();
  std::string table =
      fmt::format("\n{:>12}  {:>12}  {:>12}  {:>12}  {:>9}  {:>12}{}\n", "bytes", "time", "busiest link", "lower bound",
                  "ratio", "goodput GB/s", given_segments == 1 ? "" : "  segments");
  for (const std::size_t size : sizes) {
    const auto bytes = static_cast<double>(size);
    const int segments = given_segments > 0 ? given_segments : price->segments(bytes);
    const double seconds = price ? price->seconds(bytes, segments) : model_seconds(cost, bytes, machine.overhead);
    const double lower = bytes * bound.seconds_per_byte;
    const double goodput = seconds > 0 ? bytes * received_per_byte(schedule.shape) / seconds / 1e9 : 0;
    nlohmann::ordered_json ratio;  // null: nothing to compare with
    if (lower > 0) ratio = seconds / lower;
    results.push_back({{"bytes", size},
                       {"algorithm", schedule.name},
                       {"segments", segments},
                       {"seconds", seconds},
                       {"goodput_GBps", goodput},
                       {"busiest_link_s", bytes * cost.busiest_link_s_per_byte},
                       {"lower_bound_s", lower},
                       {"ratio", ratio}});
    table += fmt::format("{:>12}  {:>12}  {:>12}  {:>12}  {:>9}  {:>12.4g}{}\n", size, seconds_text(seconds),
                         seconds_text(bytes * cost.busiest_link_s_per_byte), seconds_text(lower),
                         lower > 0 ? fmt::format("{:.3f}", seconds / lower) : "-", goodput,
                         given_segments == 1 ? "" : fmt::format("  {:>8}", segments));
  }
  Report report;
  report.add("name", schedule.name)
      .add("topology", topology.name())
      .add("steps", given.whole ? schedule.steps() : given.steps)
      .add("messages", cost.messages)
      .add("busiest_link", cost.busiest_link,
           cost.busiest_link < 0 ? "none"
                                 : fmt::format("{} ({})", cost.busiest_link, topology.link_name(cost.busiest_link)))
      .add("bound_reason", bound.reason.empty() ? "nothing has to move" : bound.reason)
      .add_hidden("message_overhead_s", machine.overhead)
      .add_hidden("results", results);
  if (arguments.steps) report.add_hidden("steps_detail", steps_json(cost));
  report.print(session);
  if (session.json) return;
  std::cout << table;
  if (arguments.steps) print_steps(cost, topology);
}

}  // namespace

void add_cost(CLI::App& app, Session& session) {
  CLI::App* command =
      subcommand(app, session, "cost", "Time of a schedule on a topology by a model, and the lower bound");
  const auto arguments = std::make_shared<CostArguments>();
  command->add_option("FILE", arguments->file, "A schedule file, or -")->required();
  add_schedule_format(*command, arguments->format);
  command->add_option("TOPO", arguments->topology, "A topology file or a spec such as torus:4x4")->required();
  command->add_option(
      "--bytes", arguments->bytes,
      "Bytes per shard (alltoall, allgather, reduce_scatter) or of the vector (others); a list such as 1K,1M");
  command->add_option(
      "--demand", arguments->demand,
      "An alltoallv of such traffic by the schedule's shares, against the least time (colltopo bound alltoallv)");
  command->add_option("--overhead", arguments->overhead,
                      "Of a rank for each message of a step but its first; default: the parameter message_overhead");
  command->add_option("--set", arguments->settings,
                      "A parameter of the component's model, NAME=VALUE (docs/open-mpi.md); repeatable");
  command
      ->add_option("--segments", arguments->segments,
                   "Pipelined over so many segments of each call; auto: as many as coll/topo takes for a file")
      ->capture_default_str();
  command->add_flag("--steps", arguments->steps, "Also every step: messages and its busiest link");
  command->footer(
      "The model: steps follow each other; in each the longest path's latency passes, the busiest rank starts its\n"
      "messages, the busiest link carries its load, and what the busiest rank copies, packs and reduces takes its "
      "time.\n"
      "Over segments, steps that follow each other run at once, each on a segment of its own, and ranks start "
      "messages\n"
      "while links carry earlier ones. Latency and bandwidth are the links'.");
  command->callback([arguments, &session] { run_cost(*arguments, session); });
}

}  // namespace colltopo::cli
