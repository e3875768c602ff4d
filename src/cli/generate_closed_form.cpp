// colltopo generate for the closed forms: the algorithms of one table, whose programs are written down rather than
// found.
#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include "cli/generate.h"
#include "colltopo/cost.h"
#include "colltopo/error.h"
#include "colltopo/text.h"
#include "colltopo/verify.h"

namespace colltopo::cli {

namespace {

/// The collective asked for, or the algorithm's first.
Collective collective_for(const Algorithm& algorithm, const std::string& asked) {
  if (asked.empty()) return algorithm.collectives.front();
  const Collective collective = collective_argument(asked);
  if (serves(algorithm, collective)) return collective;
  std::string all;
  for (const Collective served : algorithm.collectives) all += fmt::format(" {}", name(served));
  throw Error(fmt::format("{} does not do {}; it does:{}", algorithm.name, asked, all));
}

/// What is asked for, once it is known to be possible.
struct Order {
  const Algorithm& algorithm;
  const Topology& topology;
  Shape shape;
  AlgorithmOptions options;
};

Order order_of(const GenerateArguments& arguments, const Algorithm& algorithm, const Topology& topology) {
  Order order{algorithm, topology, {}, arguments.options};
  order.shape.collective = collective_for(algorithm, arguments.collective);
  order.shape.ranks = topology.hosts();
  order.shape.root = arguments.root;
  const bool has_root = rooted(order.shape.collective);
  if (arguments.root < 0 || arguments.root >= topology.hosts() || (arguments.root != 0 && !has_root))
    throw Error(fmt::format("root {}; expected {}", arguments.root,
                            has_root ? fmt::format("a rank in 0..{}", topology.hosts() - 1)
                                     : fmt::format("none: {} has no root", name(order.shape.collective))));
  order.options.dimensions = sides_argument(arguments.dimensions, topology, topology.sides());
  if (arguments.ports == "single") order.options.values.set("multiport", 0);
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
std::string parametric_file(const Order& order, Step steps, const std::string& claim, std::optional<Proof> proof) {
  ScheduleHeader header;
  header.name = name_of(order);
  header.shape = order.shape;
  header.steps = steps;
  header.topology = fingerprint(order.topology);
  header.topology_name = order.topology.name();
  header.bound = claim;
  header.proof = proof;
  header.algorithm = order.algorithm.name;
  header.options = order.options;
  std::ostringstream out;
  write_parametric(out, header);
  return out.str();
}

void report_shape(Report& report, const Order& order, Step steps) {
  report.add("name", name_of(order))
      .add("collective", std::string(name(order.shape.collective)))
      .add("ranks", order.shape.ranks)
      .add("chunks", order.shape.chunks, fmt::format("{} per shard", order.shape.chunks))
      .add("steps", steps);
}

/// Too large to expand: one rank's program at a time, and no proof.
void make_unexpanded(const Order& order, Generation& generation) {
  Step steps = 0;
  for (Rank rank = 0; rank < order.shape.ranks; ++rank) {
    generation.progress.show(fmt::format("counting steps: rank {} of {}", rank, order.shape.ranks));
    steps = std::max(steps, order.algorithm.program(order.shape, rank, order.options).last_step());
  }
  report_shape(generation.report, order, steps);
  generation.report.add("verified", false,
                        fmt::format("no: more than {} ranks are not expanded", k_most_ranks_expanded));
  generation.write(parametric_file(order, steps, "", std::nullopt));
}

/// No algorithm of the table should let the proof fail.
void make_expanded(const Order& order, bool parametric, Generation& generation) {
  Report& report = generation.report;
  Algorithm counted = order.algorithm;
  counted.program = [&](const Shape& shape, Rank rank, const AlgorithmOptions& options) {
    generation.progress.show(fmt::format("generating rank {} of {}", rank, shape.ranks));
    return order.algorithm.program(shape, rank, options);
  };
  Schedule schedule = colltopo::generate(counted, order.shape, order.options);
  generation.progress.show("verifying");
  const Verdict verdict = verify(schedule);
  report_shape(report, order, schedule.steps());
  if (!verdict.valid()) return generation.reject(to_string(verdict.violations.front()));
  schedule.proof = proof_of(verdict);
  schedule.topology = fingerprint(order.topology);
  schedule.topology_name = order.topology.name();
  schedule.bound = report_bound(report, schedule, order.topology);
  report.add("in_place", verdict.in_place);
  if (reduces(order.shape.collective))
    report.add("keeps_rank_order", verdict.keeps_rank_order).add("same_on_all_ranks", verdict.same_on_all_ranks);
  report.add("verified", true);
  if (parametric)
    generation.write(parametric_file(order, schedule.steps(), schedule.bound, schedule.proof));
  else
    generation.write(schedule);
}

void run_closed_form(const GenerateArguments& arguments, Session& session, ProcessTeam*) {
  Generation generation(arguments, session);
  const Topology topology = generation.topology();
  const Order order = order_of(arguments, *algorithm_named(arguments.algorithm), topology);
  if (arguments.parametric && order.shape.ranks > k_most_ranks_expanded)
    make_unexpanded(order, generation);
  else
    make_expanded(order, arguments.parametric, generation);
  generation.end();
}

std::string algorithm_lines() {
  std::string lines;
  for (const Algorithm& algorithm : algorithms()) {
    std::string collectives;
    for (const Collective collective : algorithm.collectives) collectives += fmt::format(" {}", name(collective));
    lines += fmt::format("  {:<20} {}\n  {:<20}  {}\n", algorithm.name, algorithm.about, "", collectives);
  }
  return lines;
}

/// The rows that have an option.
std::string knowing(std::string_view option) {
  std::string names;
  for (const Algorithm& algorithm : algorithms()) {
    if (option_named(algorithm, option) != nullptr)
      names += fmt::format("{}{}", names.empty() ? "" : " ", algorithm.name);
  }
  return names;
}

void add_closed_form_options(CLI::App& command, GenerateArguments& arguments) {
  command
      .add_flag(
          "--parametric", arguments.parametric,
          "Write what makes programs when they are needed: the algorithm or, of mcf, one host's part and symmetries")
      ->group("Closed forms");
  for (const Option& option : all_options()) {
    command
        .add_option_function<int>(
            fmt::format("--{}", option.name), [&](int value) { arguments.options.values.set(option.name, value); },
            fmt::format("{}: {}; else {}", knowing(option.name), option.about, option.otherwise))
        ->group("Closed forms");
  }
  command.add_option("--root", arguments.root, "bcast, reduce")->capture_default_str()->group("Closed forms");
  command.add_option("--ports", arguments.ports, "swing, bucket, mirrored: use one port or all at once")
      ->check(CLI::IsMember({"single", "multi"}))
      ->capture_default_str()
      ->group("Closed forms");
  command.add_option("--dimensions", arguments.dimensions, "Sides such as 4x4, if not those of the topology")
      ->group("Closed forms");
}

}  // namespace

GenerateKind closed_forms() {
  return {[] {
            std::vector<std::string> names;
            for (const Algorithm& algorithm : algorithms()) names.emplace_back(algorithm.name);
            return names;
          },
          algorithm_lines, add_closed_form_options, run_closed_form};
}

}  // namespace colltopo::cli
