// colltopo generate mcf-steps: the all-to-all in which hosts forward data step by step (tsMCF; Basu et al., 3.1.3).
#include <fmt/format.h>

#include "cli/generate_flow.h"
#include "colltopo/error.h"
#include "colltopo/stepped.h"

namespace colltopo::cli {

namespace {

constexpr std::string_view k_stepped = "mcf-steps";

void run_stepped(const GenerateArguments& arguments, Session& session, ProcessTeam*) {
  Generation generation(arguments, session);
  if (!arguments.from.empty())
    throw Error(
        fmt::format("--from {}: {} begins with no routes; expected another algorithm", arguments.from, k_stepped));
  const FlowRequest request = flow_request(arguments, generation);
  const Topology topology = flow_topology(generation);
  generation.progress.show(fmt::format("{} on {}", k_stepped, topology.name()));
  const auto begin = std::chrono::steady_clock::now();
  const SteppedSynthesis synthesis = stepped_flow(topology, request.synthesis);
  FlowFigures figures;
  figures.solve_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  figures.bound = synthesis.bound.time_lower;

  generation.progress.show("cutting shards into chunks");
  const ChunkedSteps chunks = chunked(topology, synthesis.flow, request.most_chunks);
  figures.chunk_loss = chunks.loss();
  generation.report.add("method", synthesis.method);
  generation.progress.show("lowering");
  finish(generation, stepped_alltoall(std::string(k_stepped), topology, chunks), topology, layer_method_for(request, 0),
         figures);
}

}  // namespace

GenerateKind stepped_flows() {
  return {[] { return std::vector<std::string>{std::string(k_stepped)}; },
          [] {
            return fmt::format(
                "  {:<20} data moves from host to host in steps, to the least time (tsMCF)\n  {:<20}  alltoall\n",
                k_stepped, "");
          },
          [](CLI::App&, GenerateArguments&) {}, run_stepped};
}

}  // namespace colltopo::cli
