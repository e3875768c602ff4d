// colltopo generate for an all-to-all of weighted paths: a method of the table finds them, then they are cut into
// chunks, lowered to messages, put into layers, proved and written (Basu et al., sections 3 and 4).
#include <algorithm>
#include <exception>
#include <new>

#include <fmt/format.h>

#include "cli/certificate.h"
#include "cli/generate_flow.h"
#include "colltopo/error.h"
#include "colltopo/routed.h"

namespace colltopo::cli {

namespace {

// The method whose schedules come as near the optimum as --gap says; others are limited by more than that.
constexpr std::string_view k_to_a_gap = "mcf";

Synthesis solve(const RoutingMethod& method, SynthesisOptions options, const Topology& topology) {
  Synthesis synthesis = method.make(topology, options);
  if (synthesis.bound.time_lower > 0) return synthesis;
  // A method that does not know how good it is: the optimum is found apart.
  const double time = synthesis.bound.time;
  options.start = nullptr;
  synthesis.bound = alltoall_bound(topology, options);
  synthesis.bound.time = time;
  return synthesis;
}

/// All that a routing is made from.
struct Task {
  FlowRequest request;
  Topology topology;
  const RoutingMethod* method = nullptr;
  FlowStart start;
};

Task task_of(const GenerateArguments& arguments, Generation& generation) {
  Task task;
  task.request = flow_request(arguments, generation);
  task.topology = flow_topology(generation);
  task.method = routing_method_named(arguments.algorithm);
  read_demand(arguments, task.topology, task.request);
  if (const std::string refusal = task.method->refusal(task.topology, task.request.synthesis); !refusal.empty())
    throw Error(fmt::format("{} on {}: {}", task.method->name, task.topology.name(), refusal));
  if (!arguments.from.empty()) generation.progress.show("reading " + arguments.from);
  task.start = start_of(arguments, task.topology);
  return task;
}

/// The same on every member of a team. When some cannot, the first of them says why and none goes on.
Task agreed_task_of(const GenerateArguments& arguments, Generation& generation, Session& session, ProcessTeam* team) {
  if (team == nullptr) return task_of(arguments, generation);
  Task task;
  std::exception_ptr failure;
  try {
    task = task_of(arguments, generation);
  } catch (...) {
    failure = std::current_exception();
  }
  const int failed = team->first_of(failure != nullptr);
  if (failed < 0) return task;
  team->leave();
  session.silent = failed != team->rank();
  if (failure) std::rethrow_exception(failure);
  throw Error("another rank has failed");
}

/// All members of a team together; what one of them cannot go on from is the end of all.
Synthesis solve_together(const Task& task, ProcessTeam* team) {
  SynthesisOptions options = task.request.synthesis;
  if (task.start.routing.paths() > 0) options.start = &task.start.routing;
  options.start_lengths = task.start.lengths;
  if (team == nullptr) return solve(*task.method, options, task.topology);
  options.team = team;
  if (options.threads == 0) options.threads = threads_of(launch());
  if (team->rank() > 0) options.progress = {};
  try {
    return solve(*task.method, options, task.topology);
  } catch (const std::bad_alloc&) {
    team->abort("out of memory");
  } catch (const std::exception& error) {
    team->abort(error.what());
  }
}

void report_work(Report& report, const std::vector<std::uint64_t>& trees) {
  if (trees.empty()) return;
  report.add_hidden("trees_per_process", trees);
  const auto [least, most] = std::minmax_element(trees.begin(), trees.end());
  const std::string each = *least == *most ? fmt::format("{}", *least) : fmt::format("{} to {}", *least, *most);
  if (trees.size() == 1)
    report.add_hidden("processes", 1);
  else
    report.add("processes", trees.size(), fmt::format("{}, each grew {} shortest-path trees", trees.size(), each));
}

void run_routed(const GenerateArguments& arguments, Session& session, ProcessTeam* team) {
  if (arguments.parametric) {
    if (team == nullptr || team->rank() == 0) generate_symmetric(arguments, session);
    if (team != nullptr) team->leave();
    return;
  }
  Generation generation(arguments, session);
  Task task = agreed_task_of(arguments, generation, session, team);
  const Topology& topology = task.topology;
  const FlowRequest& request = task.request;
  Progress& progress = generation.progress;

  if (team == nullptr || team->rank() == 0) progress.show(fmt::format("{} on {}", task.method->name, topology.name()));
  const auto begin = std::chrono::steady_clock::now();
  Synthesis synthesis = solve_together(task, team);
  if (team != nullptr && team->rank() > 0) return;
  FlowFigures figures;
  figures.solve_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  figures.bound = synthesis.bound.time_lower;
  figures.demand = request.synthesis.demand;
  task.start = {};

  if (!arguments.lengths.empty()) write_output(arguments.lengths, lengths_file(topology, synthesis.bound), session);

  progress.show("cutting shards into chunks");
  double loss = k_negligible_loss;
  if (task.method->name == k_to_a_gap) {  // the schedule's: chunks may lose what the flow has left of it
    figures.gap_asked = request.synthesis.gap;
    loss = std::clamp(figures.bound * (1 + request.synthesis.gap) / synthesis.bound.time - 1, 0.0, loss);
  }
  Chunked chunks = chunked(topology, synthesis.routing, request.most_chunks, loss, figures.demand);
  synthesis.routing = {};
  figures.chunk_loss = chunks.loss();
  progress.show("finding planes and layers");
  if (arguments.spare_routes) chunks.routing = with_spare_paths(topology, chunks.routing, request.synthesis);
  const LayerMethod layers = layer_method_for(request, chunks.routing.paths());
  SectionedSchedule schedule =
      routed_sections(arguments.algorithm, topology, std::move(chunks), layers, request.synthesis.threads);
  if (const double least = synthesis.time_lower_of_paths; least > 0)
    generation.report.add("bound_of_paths", least,
                          fmt::format("{:.8g}: no other weights on these paths are faster", least));
  if (const double least = synthesis.time_lower_of_choice; least > 0)
    generation.report.add(
        "bound_of_choice", least,
        fmt::format("{:.8g}: no single one of these paths per pair is faster, says the solver", least));
  if (!synthesis.remark.empty()) generation.report.add("remark", synthesis.remark);
  report_work(generation.report, synthesis.trees);
  finish(generation, std::move(schedule), topology, layers, figures);
}

std::string routing_lines() {
  std::string lines;
  for (const RoutingMethod& method : routing_methods())
    lines += fmt::format("  {:<20} {}\n  {:<20}  alltoall\n", method.name, method.about, "");
  return lines;
}

}  // namespace

GenerateKind routings() {
  return {[] {
            std::vector<std::string> names;
            for (const RoutingMethod& method : routing_methods()) names.emplace_back(method.name);
            return names;
          },
          routing_lines, add_flow_options, run_routed,
          [](const std::string& algorithm) { return routing_method_named(algorithm)->spreads; }};
}

}  // namespace colltopo::cli
