// colltopo generate forest: trees at the optimum, or the best of a given number (Zhao et al., ForestColl).
#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/lines.h"
#include "cli/generate.h"
#include "colltopo/allreduce_bound.h"
#include "colltopo/cost.h"
#include "colltopo/error.h"
#include "colltopo/forest.h"
#include "colltopo/forwarding.h"
#include "colltopo/verify.h"

namespace colltopo::cli {

namespace {

constexpr std::string_view k_forest = "forest";

bool parse_whole(std::string_view text, std::int64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

ForestOptions forest_options(const GenerateArguments& arguments) {
  ForestOptions options;
  options.threads = arguments.synthesis.threads;
  options.few = arguments.trees == "few";
  options.optimum = arguments.trees == "optimum";
  options.root = arguments.root;
  if (arguments.trees.empty() || options.few || options.optimum) return options;
  if (!parse_whole(arguments.trees, options.trees) || options.trees < 1)
    throw Error(fmt::format("--trees {}; expected a number of 1 or more, optimum or few", in_quotes(arguments.trees)));
  return options;
}

/// "gpu0.0,gpu0.1" by names, or "0-7,16-23" by numbers.
std::vector<bool> group_of(const std::string& list, const Topology& topology) {
  std::vector<bool> takes_part(static_cast<std::size_t>(topology.hosts()), false);
  for (std::string_view rest = list;;) {
    const std::size_t comma = rest.find(',');
    const std::string_view item = rest.substr(0, comma);
    NodeId host = 0;
    while (host < topology.hosts() && topology.node_name(host) != item) ++host;
    std::int64_t first = host, last = host;
    if (host == topology.hosts()) {
      const std::size_t dash = item.find('-');
      const bool range = parse_whole(item.substr(0, dash), first) &&
                         parse_whole(dash == std::string_view::npos ? item : item.substr(dash + 1), last);
      if (!range || first < 0 || last < first || last >= topology.hosts())
        throw Error(fmt::format("--hosts {}: no host of {}; expected names, or numbers in 0..{} such as 0-3,6",
                                in_quotes(item), topology.name(), topology.hosts() - 1));
    }
    for (std::int64_t i = first; i <= last; ++i) takes_part[static_cast<std::size_t>(i)] = true;
    if (comma == std::string_view::npos) return takes_part;
    rest.remove_prefix(comma + 1);
  }
}

Topology network(const GenerateArguments& arguments, const Generation& generation) {
  Topology topology = generation.topology();
  if (arguments.hosts.empty()) {
    if (arguments.relay) throw Error("--relay: nobody is left to relay; expected --hosts with those that take part");
    return topology;
  }
  return group_topology(topology, group_of(arguments.hosts, topology), arguments.relay ? Others::relay : Others::gone);
}

/// What no schedule along trees beats, per byte of a call; of an allreduce on a large network, what cuts and sums of
/// links allow.
double bound_seconds_per_byte(const Topology& topology, const Shape& shape, int threads) {
  if (shape.collective == Collective::allgather) return forest_optimum(topology, threads).seconds_per_byte();
  if (shape.collective == Collective::reduce_scatter)
    return forest_optimum(transposed(topology), threads).seconds_per_byte();
  if (shape.collective == Collective::bcast) return bcast_optimum(topology, shape.root, threads).seconds_per_byte();
  if (shape.collective == Collective::reduce)
    return bcast_optimum(transposed(topology), shape.root, threads).seconds_per_byte();
  if (allreduce_columns(topology) <= k_most_allreduce_columns) return allreduce_bound(topology).seconds_per_byte;
  return bandwidth_bound(shape, topology).seconds_per_byte;
}

std::string first_fault(Schedule& schedule, const Topology& topology) {
  const Verdict verdict = verify(schedule);
  if (!verdict.valid()) return to_string(verdict.violations.front());
  schedule.proof = proof_of(verdict);
  const std::vector<Violation> misfits = verify_on(schedule, topology);
  return misfits.empty() ? "" : to_string(misfits.front());
}

void report_time(Report& report, const Topology& topology, Schedule& schedule, int threads) {
  const Collective collective = schedule.shape.collective;
  const double achieved = cost_of(schedule, topology).busiest_link_s_per_byte;
  const double bound = bound_seconds_per_byte(topology, schedule.shape, threads);
  const double gap = std::max(0.0, achieved / bound - 1);
  // Of the whole call, per byte of its count.
  const double bytes = row(collective).counts_shards() ? schedule.shape.ranks : 1;
  report.add("achieved", achieved, fmt::format("{} for each byte of a call", seconds_text(achieved)))
      .add("bound", bound, seconds_text(bound))
      .add("gap", gap, fmt::format("{:.2f}%", 100 * gap))
      .add("algbw_GBps", bytes * 1e-9 / achieved, fmt::format("{:.6g} GB/s", bytes * 1e-9 / achieved));
  schedule.bound = fmt::format("{} {:.8g} s per byte of a call, at least {:.8g}", name(collective), achieved, bound);
}

void run_forest(const GenerateArguments& arguments, Session& session, ProcessTeam*) {
  Generation generation(arguments, session);
  const Collective collective =
      arguments.collective.empty() ? Collective::allgather : collective_argument(arguments.collective);
  if (!row(collective).made_of_trees())
    throw Error(fmt::format("forest does not do {}; it does: allgather reduce_scatter allreduce bcast reduce",
                            name(collective)));
  const Topology topology = network(arguments, generation);
  ForestOptions options = forest_options(arguments);
  options.collective = collective;
  generation.progress.show(fmt::format("packing trees on {}", topology.name()));
  const Forest forest =
      collective == Collective::allreduce ? pack_allreduce(topology, options) : pack_forest(topology, options);
  generation.progress.show("lowering");
  Schedule schedule = with_planes_as_lanes(forest_schedule(topology, forest), topology);
  generation.progress.show("verifying");
  const std::string fault = first_fault(schedule, topology);

  const std::size_t differing = forest.out.trees.empty() ? forest.in.trees.size() : forest.out.trees.size();
  Report& report = generation.report;
  report.add("name", schedule.name)
      .add("collective", std::string(name(collective)))
      .add("ranks", schedule.shape.ranks)
      .add("topology", topology.name())
      .add("k", forest.chunks,
           fmt::format("{} trees per {}, a chunk each", forest.chunks, rooted(collective) ? "root" : "host"))
      .add("trees", differing, fmt::format("{} that differ", differing))
      .add("height", forest.height())
      .add("steps", schedule.steps())
      .add("routes", schedule.routes.size());
  if (!fault.empty()) {
    generation.reject(fault);
    return generation.end();
  }
  report_time(report, topology, schedule, options.threads);
  report.add("verified", true);
  generation.write(schedule);
  generation.end();
}

void add_forest_options(CLI::App& command, GenerateArguments& arguments) {
  const std::string group = "Trees";
  command
      .add_option("--trees", arguments.trees,
                  "forest: per root; optimum, few (the best of fewer than 10) or a number. Default: the optimum's up "
                  "to 128, else as few as come within 0.1%")
      ->group(group);
  command
      .add_option("--hosts", arguments.hosts, "forest: that take part, by names or numbers: 0-7,16-23; others are gone")
      ->group(group);
  command.add_flag("--relay", arguments.relay, "forest: hosts that take no part forward as switches do")->group(group);
}

}  // namespace

GenerateKind forests() {
  return {[] { return std::vector<std::string>{std::string(k_forest)}; },
          [] {
            return fmt::format(
                "  {:<20} trees that span all hosts, packed to the optimum (ForestColl)\n  {:<20}  allgather "
                "reduce_scatter allreduce bcast reduce\n",
                k_forest, "");
          },
          add_forest_options, run_forest};
}

}  // namespace colltopo::cli
