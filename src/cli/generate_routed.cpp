// colltopo generate for an all-to-all of weighted paths: a method of the table finds them, then they are cut into
// chunks, lowered to messages, put into layers, proved and written (Basu et al., sections 3 and 4).
#include <fmt/format.h>

#include "cli/generate_flow.h"
#include "colltopo/error.h"
#include "colltopo/routed.h"

namespace colltopo::cli {

namespace {

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

void run(const GenerateArguments& arguments, Session& session) {
  Generation generation(arguments, session);
  FlowRequest request = flow_request(arguments, generation);
  const Topology topology = flow_topology(generation);
  const RoutingMethod& method = *routing_method_named(arguments.algorithm);
  if (const std::string refusal = method.refusal(topology, request.synthesis); !refusal.empty())
    throw Error(fmt::format("{} on {}: {}", method.name, topology.name(), refusal));
  Progress& progress = generation.progress;
  if (!arguments.from.empty()) progress.show("reading " + arguments.from);
  Routing start = start_of(arguments, topology);
  if (start.paths() > 0) request.synthesis.start = &start;

  progress.show(fmt::format("{} on {}", method.name, topology.name()));
  const auto begin = std::chrono::steady_clock::now();
  Synthesis synthesis = solve(method, request.synthesis, topology);
  FlowFigures figures;
  figures.solve_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  figures.bound = synthesis.bound.time_lower;
  start = {};

  progress.show("cutting shards into chunks");
  const Chunked chunks = chunked(topology, synthesis.routing, request.most_chunks);
  synthesis.routing = {};
  figures.chunk_loss = chunks.loss();
  progress.show("lowering");
  Schedule schedule = routed_alltoall(arguments.algorithm, topology, chunks);
  if (const double least = synthesis.time_lower_of_paths; least > 0)
    generation.report.add("bound_of_paths", least,
                          fmt::format("{:.8g}: no other weights on these paths are faster", least));
  if (!synthesis.remark.empty()) generation.report.add("remark", synthesis.remark);
  finish(generation, std::move(schedule), topology, request.layers, figures);
}

std::string method_lines() {
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
          method_lines, add_flow_options, run};
}

}  // namespace colltopo::cli
