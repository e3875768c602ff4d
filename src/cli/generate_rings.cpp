// colltopo generate for logical rings: a spanning tree, an order of its machines, and the schedule, proved on the
// network to load no link twice in a step (Faraj, Patarasuk, Yuan).
#include <algorithm>

#include <fmt/format.h>

#include "base/lines.h"
#include "cli/generate.h"
#include "colltopo/cost.h"
#include "colltopo/error.h"
#include "colltopo/rings.h"
#include "colltopo/verify.h"

namespace colltopo::cli {

namespace {

TreeSearch tree_argument(const std::string& text) {
  if (const auto search = tree_search_named(text)) return *search;
  throw Error(fmt::format("--tree {}; expected bfs, dfs or random", in_quotes(text)));
}

std::size_t most_messages_on_a_link(const Schedule& schedule, const Topology& topology) {
  std::size_t most = 0;
  for (const StepCost& step : cost_of(schedule, topology).steps) most = std::max(most, step.most_messages_on_a_link);
  return most;
}

void report_ring(Report& report, const GenerateArguments& arguments, const SpanningTree& tree, int longest_path) {
  report.add("tree", arguments.tree, fmt::format("{}, of {} switches", arguments.tree, tree.switches.size()))
      .add("maximum_path_length", longest_path, fmt::format("{} hops (switches on a path)", longest_path));
}

/// The schedule, proved: first by itself, then on the network, link by link.
void make_schedule(Collective collective, const GenerateArguments& arguments, const Topology& topology,
                   const SpanningTree& tree, const std::vector<Rank>& order, Generation& generation) {
  Report& report = generation.report;
  generation.progress.show("generating");
  Schedule schedule = ring_schedule(arguments.algorithm, collective, topology, tree, order);
  generation.progress.show("verifying");
  const Verdict verdict = verify(schedule);
  if (!verdict.valid()) return generation.reject(to_string(verdict.violations.front()));
  schedule.proof = proof_of(verdict);
  if (const auto misfits = verify_on(schedule, topology); !misfits.empty())
    return generation.reject(to_string(misfits.front()));
  const std::size_t most = most_messages_on_a_link(schedule, topology);
  report.add("steps", schedule.steps())
      .add("routes", schedule.routes.size())
      .add("contention_free", most <= 1, most <= 1 ? "yes: no link carries two messages in a step" : "no");
  if (most > 1) return generation.reject(fmt::format("a link carries {} messages in one step", most));
  schedule.bound = report_bound(report, schedule, topology);
  report.add("in_place", verdict.in_place).add("verified", true);
  generation.write(schedule);
}

void run_rings(const GenerateArguments& arguments, Session& session, ProcessTeam*) {
  Generation generation(arguments, session);
  const Collective collective =
      arguments.collective.empty() ? Collective::allgather : collective_argument(arguments.collective);
  if (!row(collective).made_of_trees() || rooted(collective))
    throw Error(fmt::format("{} does not do {}; it does: allgather reduce_scatter allreduce", arguments.algorithm,
                            arguments.collective));
  const TreeSearch search = tree_argument(arguments.tree);
  const Topology topology = generation.topology();
  const bool is_expanded = topology.hosts() <= k_most_ranks_expanded;
  if (!is_expanded && !arguments.output.empty())
    throw Error(fmt::format("{}: {} hosts; schedules of rings are written for at most {}, no file was made",
                            topology.name(), topology.hosts(), k_most_ranks_expanded));

  generation.progress.show(arguments.algorithm + " on " + topology.name());
  const SpanningTree tree = spanning_tree(topology, search, arguments.synthesis.seed);
  const std::vector<Rank> order = ring_method_named(arguments.algorithm)->order(topology, tree);
  const RingFacts facts = facts_of(tree, order);
  Report& report = generation.report;
  report.add("name", arguments.algorithm)
      .add("collective", std::string(name(collective)))
      .add("ranks", topology.hosts())
      .add("topology", topology.name());
  report_ring(report, arguments, tree, facts.longest_path);
  report.add_hidden("ring", order);
  if (is_expanded) {
    make_schedule(collective, arguments, topology, tree, order, generation);
  } else {
    report
        .add("contention_free", facts.contention_free(),
             facts.contention_free() ? "yes: no link is on two paths of the ring" : "no")
        .add("verified", false, fmt::format("no: more than {} ranks are not expanded", k_most_ranks_expanded));
  }
  generation.end();
}

std::string ring_lines() {
  std::string lines;
  for (const RingMethod& method : ring_methods())
    lines += fmt::format("  {:<20} {}\n  {:<20}  allgather reduce_scatter allreduce\n", method.name, method.about, "");
  return lines;
}

void add_rings_options(CLI::App& command, GenerateArguments& arguments) {
  command.add_option("--tree", arguments.tree, "lr1, lr2, lr3: the spanning tree: bfs, dfs or random (see --seed)")
      ->capture_default_str()
      ->group("Rings");
}

}  // namespace

GenerateKind rings() {
  return {[] {
            std::vector<std::string> names;
            for (const RingMethod& method : ring_methods()) names.emplace_back(method.name);
            return names;
          },
          ring_lines, add_rings_options, run_rings};
}

}  // namespace colltopo::cli
