// colltopo generate: makes a schedule, proves it, says how near the bound it comes, and writes it.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <sstream>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/progress.h"
#include "colltopo/algorithms.h"
#include "colltopo/cost.h"
#include "colltopo/error.h"
#include "colltopo/text.h"
#include "colltopo/verify.h"

namespace colltopo::cli {

namespace {

// A parametric file of more ranks is written without expanding and proving every program: that takes memory and time
// proportional to all chunks moved.
constexpr Rank k_most_ranks_expanded = 2048;

struct Arguments {
  std::string algorithm;
  std::string topology;
  std::string collective;
  std::string dimensions;
  std::string ports = "multi";
  std::string output;
  Rank root = 0;
  AlgorithmOptions options;
  bool parametric = false;
};

const Algorithm& algorithm_argument(const std::string& name) {
  if (const Algorithm* algorithm = algorithm_named(name)) return *algorithm;
  std::string all;
  for (const Algorithm& algorithm : algorithms()) all += fmt::format(" {}", algorithm.name);
  throw Error(fmt::format("algorithm '{}' is unknown; expected one of:{}", name, all));
}

/// The collective asked for, or the algorithm's first.
Collective collective_for(const Algorithm& algorithm, const std::string& asked) {
  if (asked.empty()) return algorithm.collectives.front();
  const Collective collective = collective_argument(asked);
  if (serves(algorithm, collective)) return collective;
  std::string all;
  for (const Collective served : algorithm.collectives) all += fmt::format(" {}", name(served));
  throw Error(fmt::format("{} does not do {}; it does:{}", algorithm.name, asked, all));
}

/// Sides of more than one rank: those given, or the topology's.
std::vector<int> dimensions_for(const Arguments& arguments, const Topology& topology) {
  std::vector<int> sides = topology.sides();
  if (!arguments.dimensions.empty()) {
    const Topology torus = topology_of("torus:" + arguments.dimensions);
    if (torus.hosts() != topology.hosts())
      throw Error(fmt::format("--dimensions {} are a torus of {} ranks; {} has {} hosts", arguments.dimensions,
                              torus.hosts(), topology.name(), topology.hosts()));
    sides = torus.sides();
  }
  std::erase(sides, 1);
  return sides;
}

long peak_memory_bytes() {
  struct rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * 1024;
}

/// What is asked for, once it is known to be possible.
struct Order {
  const Algorithm& algorithm;
  const Topology& topology;
  Shape shape;
  AlgorithmOptions options;
};

Order order_of(const Arguments& arguments, const Algorithm& algorithm, const Topology& topology) {
  Order order{algorithm, topology, {}, arguments.options};
  order.shape.collective = collective_for(algorithm, arguments.collective);
  order.shape.ranks = topology.hosts();
  order.shape.root = arguments.root;
  const bool has_root = rooted(order.shape.collective);
  if (arguments.root < 0 || arguments.root >= topology.hosts() || (arguments.root != 0 && !has_root))
    throw Error(fmt::format("root {}; expected {}", arguments.root,
                            has_root ? fmt::format("a rank in 0..{}", topology.hosts() - 1)
                                     : fmt::format("none: {} has no root", name(order.shape.collective))));
  order.options.dimensions = dimensions_for(arguments, topology);
  order.options.multiport = arguments.ports == "multi";
  if (const std::string refusal = algorithm.refusal(order.shape, order.options); !refusal.empty())
    throw Error(fmt::format("{} on {}: {}", algorithm.name, topology.name(), refusal));
  order.shape.chunks = algorithm.chunks(order.shape, order.options);
  return order;
}

std::string name_of(const Order& order) {
  const std::string details = order.algorithm.describe(order.shape, order.options);
  return std::string(order.algorithm.name) + (details.empty() ? "" : " " + details);
}

/// A schedule that generates itself. `steps`: of all ranks.
std::string parametric_file(const Order& order, Step steps, const std::string& claim) {
  ScheduleHeader header;
  header.name = name_of(order);
  header.shape = order.shape;
  header.steps = steps;
  header.topology = fingerprint(order.topology);
  header.bound = claim;
  header.algorithm = order.algorithm.name;
  header.options = order.options;
  std::ostringstream out;
  write_parametric(out, header);
  return out.str();
}

/// How much the busiest link carries and must at least carry; returns the claim for the file.
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

void report_shape(Report& report, const Order& order, Step steps) {
  report.add("name", name_of(order))
      .add("collective", std::string(name(order.shape.collective)))
      .add("ranks", order.shape.ranks)
      .add("chunks", order.shape.chunks, fmt::format("{} per shard", order.shape.chunks))
      .add("steps", steps);
}

/// Too large to expand: one rank's program at a time, and no proof.
std::string unexpanded(const Order& order, Report& report, Progress& progress) {
  Step steps = 0;
  for (Rank rank = 0; rank < order.shape.ranks; ++rank) {
    progress.show(fmt::format("counting steps: rank {} of {}", rank, order.shape.ranks));
    steps = std::max(steps, order.algorithm.program(order.shape, rank, order.options).last_step());
  }
  report_shape(report, order, steps);
  report.add("verified", false, fmt::format("no: more than {} ranks are not expanded", k_most_ranks_expanded));
  return parametric_file(order, steps, "");
}

/// The file's contents; empty when the proof fails, which no algorithm of the table should let happen.
std::string expanded(const Order& order, bool parametric, Report& report, Progress& progress) {
  Algorithm counted = order.algorithm;
  counted.program = [&](const Shape& shape, Rank rank, const AlgorithmOptions& options) {
    progress.show(fmt::format("generating rank {} of {}", rank, shape.ranks));
    return order.algorithm.program(shape, rank, options);
  };
  Schedule schedule = generate(counted, order.shape, order.options);
  progress.show("verifying");
  const Verdict verdict = verify(schedule);
  report_shape(report, order, schedule.steps());
  if (!verdict.valid()) {
    report.add("verified", false, "no: " + to_string(verdict.violations.front()));
    return "";
  }
  schedule.topology = fingerprint(order.topology);
  schedule.bound = report_bound(report, schedule, order.topology);
  report.add("in_place", verdict.in_place);
  if (reduces(order.shape.collective))
    report.add("keeps_rank_order", verdict.keeps_rank_order).add("same_on_all_ranks", verdict.same_on_all_ranks);
  report.add("verified", true);
  if (parametric) return parametric_file(order, schedule.steps(), schedule.bound);
  std::ostringstream out;
  write_schedule(out, schedule);
  return out.str();
}

void run(const Arguments& arguments, Session& session) {
  const auto start = std::chrono::steady_clock::now();
  const Algorithm& algorithm = algorithm_argument(arguments.algorithm);
  const Topology topology = topology_argument(arguments.topology);
  const Order order = order_of(arguments, algorithm, topology);

  Report report;
  Progress progress(session);
  const bool too_large = arguments.parametric && order.shape.ranks > k_most_ranks_expanded;
  const std::string contents =
      too_large ? unexpanded(order, report, progress) : expanded(order, arguments.parametric, report, progress);
  progress.clear();
  if (contents.empty())
    session.status = k_examined_is_wrong;
  else if (!arguments.output.empty())
    write_output(arguments.output, contents, session);

  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const std::string nowhere = contents.empty() ? "none: it is wrong" : "none: -o FILE writes it";
  report.add("seconds", seconds, seconds_text(seconds))
      .add("peak_memory_bytes", peak_memory_bytes(),
           fmt::format("{:.1f} MiB", static_cast<double>(peak_memory_bytes()) / 1048576))
      .add("file", arguments.output, arguments.output.empty() || contents.empty() ? nowhere : arguments.output)
      .print(session, arguments.output);
}

std::string algorithm_lines() {
  std::string lines = "Algorithms:\n";
  for (const Algorithm& algorithm : algorithms()) {
    std::string collectives;
    for (const Collective collective : algorithm.collectives) collectives += fmt::format(" {}", name(collective));
    lines += fmt::format("  {:<20} {}\n  {:<20}  {}\n", algorithm.name, algorithm.about, "", collectives);
  }
  return lines;
}

}  // namespace

void add_generate(CLI::App& app, Session& session) {
  CLI::App* command = subcommand(app, session, "generate", "Make a schedule, proved before it is written");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("ALGORITHM", arguments->algorithm, "One of those below")->required();
  command->add_option("TOPO", arguments->topology, "A topology file, - or a spec such as torus:4x4; one rank per host")
      ->required();
  command->add_option("-c,--collective", arguments->collective, "Default: the first that the algorithm does");
  command->add_option("-o,--output", arguments->output, "Schedule file to write; - is standard output");
  command->add_flag("--parametric", arguments->parametric, "Write a header that makes programs when they are needed");
  command->add_option("--radix", arguments->options.radix, "tra, bruck: 2 to the number of ranks")
      ->check(CLI::PositiveNumber);
  command->add_option("--intra-radix", arguments->options.intra_radix, "tra2: within groups")
      ->check(CLI::PositiveNumber);
  command->add_option("--inter-radix", arguments->options.inter_radix, "tra2: between groups")
      ->check(CLI::PositiveNumber);
  command->add_option("--group", arguments->options.group, "tra2: ranks per group")->check(CLI::PositiveNumber);
  command->add_option("--root", arguments->root, "bcast, reduce")->capture_default_str();
  command->add_option("--ports", arguments->ports, "swing, bucket, mirrored: use one port or all at once")
      ->check(CLI::IsMember({"single", "multi"}))
      ->capture_default_str();
  command->add_option("--dimensions", arguments->dimensions, "Sides such as 4x4, if not those of the topology");
  command->footer(algorithm_lines() + "\nTopologies:\n" + topology_specs());
  command->callback([arguments, &session] { run(*arguments, session); });
}

}  // namespace colltopo::cli
