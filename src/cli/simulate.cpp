// colltopo simulate: a schedule's steps and links on a network of up to thousands of hosts, and the time that they
// take.
#include <chrono>
#include <filesystem>
#include <iostream>
#include <memory>

#include <fmt/format.h>

#include "base/lines.h"
#include "cli/command.h"
#include "cli/progress.h"
#include "cli/steps_report.h"
#include "colltopo/algorithms.h"
#include "colltopo/error.h"
#include "comm/forced.h"
#include "simulation/simulation.h"

namespace colltopo::cli {

namespace {

constexpr Rank k_most_simulated = 16384;
constexpr Rank k_most_hosts_fair = 1024;

struct SimulateArguments {
  std::string subject;  // a file, or an algorithm with options
  std::string format;
  std::string topology;
  std::string collective;
  std::string bytes = "32,1K,32K,1M,32M";
  std::string overhead = "0us";
  std::string dimensions;
  Rank root = 0;
  bool steps = false, fair = false, no_symmetry = false;
};

struct Loaded {
  simulation::Subject subject;
  std::shared_ptr<const Schedule> schedule;  // of a file; null: a closed form
};

Loaded closed_form(const SimulateArguments& arguments, const Topology& topology) {
  const std::string name = arguments.subject.substr(0, arguments.subject.find(':'));
  const Algorithm* const algorithm = algorithm_named(name);
  if (algorithm == nullptr)
    throw Error(
        fmt::format("{}: no such file, and no closed form has this name; expected a schedule file or one of "
                    "those that `colltopo generate --help` lists with options, such as swing:multiport=1",
                    arguments.subject));
  const Collective collective =
      arguments.collective.empty() ? algorithm->collectives.front() : collective_argument(arguments.collective);
  const Forced forced = forced_from("ALGORITHM", collective, arguments.subject);
  AlgorithmOptions options = forced.over({});
  options.dimensions = sides_argument(arguments.dimensions, topology, topology.arrangement());
  Shape shape{collective, topology.hosts(), 1, arguments.root};
  if (arguments.root < 0 || arguments.root >= topology.hosts() || (arguments.root > 0 && !rooted(collective)))
    throw Error(fmt::format("--root {}; expected {}", arguments.root,
                            rooted(collective) ? fmt::format("a rank in 0..{}", topology.hosts() - 1)
                                               : fmt::format("none: {} has no root", colltopo::name(collective))));
  if (const std::string refusal = algorithm->refusal(shape, options); !refusal.empty())
    throw Error(fmt::format("{} on {}: {}", algorithm->name, topology.name(), refusal));
  shape.chunks = algorithm->chunks(shape, options);
  const std::string details = algorithm->describe(shape, options);
  return {{std::string(algorithm->name) + (details.empty() ? "" : " " + details), shape,
           [algorithm, shape, options](Rank rank) { return algorithm->program(shape, rank, options); }},
          nullptr};
}

Loaded loaded(const SimulateArguments& arguments, const Topology& topology) {
  std::error_code ignored;
  if (arguments.subject != "-" && !std::filesystem::exists(arguments.subject, ignored))
    return closed_form(arguments, topology);
  auto schedule = std::make_shared<const Schedule>(schedule_argument(arguments.subject, arguments.format));
  return {{schedule->name, schedule->shape,
           [schedule](Rank rank) { return schedule->programs[static_cast<std::size_t>(rank)]; }},
          schedule};
}

simulation::Result simulated(const Loaded& loaded, const Topology& topology, const SimulateArguments& arguments,
                             Progress& progress) {
  // Routes are those of a whole file, which is at hand anyway.
  if (loaded.schedule != nullptr && !loaded.schedule->routes.empty()) {
    simulation::Result result;
    result.cost = cost_of(*loaded.schedule, topology);
    result.loads = link_loads(*loaded.schedule, topology);
    result.read = loaded.schedule->shape.ranks;
    return result;
  }
  return simulation::simulate(loaded.subject, topology, !arguments.no_symmetry, [&](Rank read, Rank of) {
    progress.show(fmt::format("{}: programs of {} of {} ranks", loaded.subject.name, read, of));
  });
}

void print_simulated_steps(const Cost& cost, const Topology& topology) {
  std::cout << "\nstep  messages  of a rank  on a link       latency         load\n";
  for (const StepCost& step : cost.steps)
    std::cout << fmt::format(
        "{:>4}  {:>8}  {:>9}  {:>9}  {:>12}  {:>11.4g}\n", step.step, step.messages, step.most_messages_of_a_rank,
        step.most_messages_on_a_link, seconds_text(step.longest_latency_s),
        step.busiest_link < 0 ? 0.0 : step.busiest_link_s_per_byte * topology.link(step.busiest_link).bandwidth);
}

std::string reading_text(const simulation::Result& result) {
  if (result.alike == 1) return fmt::format("the programs of all {} ranks", result.read);
  return fmt::format("the programs of {} ranks, each of which {} are like by translation ({} others compared)",
                     result.read, result.alike, result.compared);
}

struct Totals {
  double latency_s = 0, link_s_per_byte = 0, messages = 0;
};

Totals totals_of(const Cost& cost) {
  Totals totals;
  for (const StepCost& step : cost.steps) {
    totals.latency_s += step.longest_latency_s;
    totals.link_s_per_byte += step.busiest_link_s_per_byte;
    totals.messages += static_cast<double>(step.most_messages_of_a_rank);
  }
  return totals;
}

void run_simulate(const SimulateArguments& arguments, const Session& session) {
  const auto start = std::chrono::steady_clock::now();
  double overhead_s = 0;
  if (!parse_latency(arguments.overhead, overhead_s) || overhead_s < 0)
    throw Error(fmt::format("--overhead {}; expected a number of 0 or more and one of ns us ms s",
                            in_quotes(arguments.overhead)));
  const std::vector<std::size_t> sizes = bytes_argument(arguments.bytes);
  const Topology topology = topology_argument(arguments.topology);
  const Rank most = arguments.fair ? k_most_hosts_fair : k_most_simulated;
  if (topology.hosts() > most)
    throw Error(fmt::format("{}: {} hosts; expected at most {}{}", topology.name(), topology.hosts(), most,
                            arguments.fair ? " with --fair" : ""));
  Progress progress(session);
  const Loaded subject = loaded(arguments, topology);
  const simulation::Result result = simulated(subject, topology, arguments, progress);
  const Shape& shape = subject.subject.shape;
  const BandwidthBound bound = bandwidth_bound(shape, topology);
  std::shared_ptr<const Schedule> whole = subject.schedule;
  if (arguments.fair && whole == nullptr)
    whole = std::make_shared<const Schedule>(schedule_of(subject.subject.name, shape, subject.subject.program_of));

  const Totals totals = totals_of(result.cost);
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  std::string table = fmt::format("\n{:>12}  {:>12}  {:>12}  {:>12}  {:>12}  {:>12}{}\n", "bytes", "time", "latency",
                                  "links", "lower bound", "goodput GB/s", arguments.fair ? "    fair shares" : "");
  for (const std::size_t size : sizes) {
    progress.show(fmt::format("{}: {} bytes", subject.subject.name, size));
    const auto bytes = static_cast<double>(size);
    const double seconds = model_seconds(result.cost, bytes, overhead_s);
    const double goodput = seconds > 0 ? bytes * received_per_byte(shape) / seconds / 1e9 : 0;
    const double fair =
        arguments.fair ? simulation::fair_seconds(*whole, topology, bytes) + totals.messages * overhead_s : 0;
    rows.push_back({{"bytes", size},
                    {"seconds", seconds},
                    {"latency_s", totals.latency_s},
                    {"links_s", bytes * totals.link_s_per_byte},
                    {"overhead_s", totals.messages * overhead_s},
                    {"lower_bound_s", bytes * bound.seconds_per_byte},
                    {"goodput_GBps", goodput}});
    if (arguments.fair) rows.back()["fair_s"] = fair;
    table += fmt::format("{:>12}  {:>12}  {:>12}  {:>12}  {:>12}  {:>12.4g}{}\n", size, seconds_text(seconds),
                         seconds_text(totals.latency_s), seconds_text(bytes * totals.link_s_per_byte),
                         seconds_text(bytes * bound.seconds_per_byte), goodput,
                         arguments.fair ? fmt::format("  {:>13}", seconds_text(fair)) : "");
  }
  progress.clear();
  const double busiest = result.cost.busiest_link < 0
                             ? 0
                             : result.cost.busiest_link_s_per_byte * topology.link(result.cost.busiest_link).bandwidth;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  Report report;
  report.add("name", subject.subject.name)
      .add("collective", std::string(name(shape.collective)))
      .add("topology", topology.name())
      .add("hosts", topology.hosts())
      .add("steps", result.cost.steps.size())
      .add("messages", result.cost.messages)
      .add("busiest_link_load", busiest,
           result.cost.busiest_link < 0 ? "none"
                                        : fmt::format("{:.6g} times the bytes of a call ({})", busiest,
                                                      topology.link_name(result.cost.busiest_link)))
      .add("programs_read", result.read, reading_text(result))
      .add_hidden("ranks_alike", result.alike)
      .add_hidden("message_overhead_s", overhead_s)
      .add("seconds", seconds, seconds_text(seconds))
      .add("peak_memory_bytes", peak_memory_bytes(), peak_memory_text())
      .add_hidden("results", rows);
  if (arguments.steps) report.add_hidden("steps_detail", steps_json(result.cost));
  report.print(session);
  if (session.json) return;
  std::cout << table;
  if (arguments.steps) print_simulated_steps(result.cost, topology);
}

}  // namespace

void add_simulate(CLI::App& app, Session& session) {
  CLI::App* command = subcommand(app, session, "simulate", "Steps and links of a schedule on up to 16384 hosts");
  const auto arguments = std::make_shared<SimulateArguments>();
  command->add_option("SCHEDULE", arguments->subject, "A schedule file, - or a closed form such as swing:multiport=1")
      ->required();
  add_schedule_format(*command, arguments->format);
  command->add_option("TOPO", arguments->topology, "A topology file or a spec such as torus:64x64/bandwidth:400Gbps")
      ->required();
  command->add_option("-c,--collective", arguments->collective, "Of a closed form; default: the first that it does");
  command->add_option("--bytes", arguments->bytes, "Bytes per shard or of the vector; a list such as 1K,1M")
      ->capture_default_str();
  command->add_option("--overhead", arguments->overhead, "Of a rank per message")->capture_default_str();
  command->add_option("--dimensions", arguments->dimensions, "Sides such as 4x4, if not those of the topology");
  command->add_option("--root", arguments->root, "Of rooted collectives")->capture_default_str();
  command->add_flag("--steps", arguments->steps, "Also every step");
  command->add_flag("--fair", arguments->fair,
                    "Also the time with links shared fairly by the messages of a step; up to 1024 hosts");
  command->add_flag("--no-symmetry", arguments->no_symmetry, "Read the programs of all ranks");
  command->footer(
      "Steps follow each other; in each the longest path's latency passes, then the busiest link carries its load.\n"
      "Programs are read one at a time; on grids whose ranks do alike, only those of a few ranks.");
  command->callback([arguments, &session] { run_simulate(*arguments, session); });
}

}  // namespace colltopo::cli
