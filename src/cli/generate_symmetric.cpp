// colltopo generate mcf --parametric: an all-to-all that repeats under the network's symmetries.
#include <fmt/format.h>

#include "cli/certificate.h"
#include "cli/generate_flow.h"
#include "colltopo/error.h"
#include "colltopo/symmetric_alltoall.h"
#include "colltopo/turns.h"
#include "colltopo/verify_symmetric.h"

namespace colltopo::cli {

namespace {

Symmetry symmetry_for(const Topology& topology) {
  Symmetry symmetry = symmetry_of(topology);
  if (symmetry.elements() == 1)
    throw Error(
        fmt::format("{}: no symmetry that moves every host was found, so that nothing repeats; expected a network "
                    "such as torus:8x8, or no --parametric",
                    topology.name()));
  return symmetry;
}

void report_symmetric_shape(Report& report, const SymmetricSchedule& schedule, const Topology& topology) {
  report.add("name", schedule.name)
      .add("collective", std::string(name(schedule.shape.collective)))
      .add("ranks", schedule.shape.ranks)
      .add("topology", topology.name())
      .add("steps", 1)
      .add("generators", schedule.symmetry.generators().size())
      .add("symmetries", schedule.symmetry.elements(),
           fmt::format("{}, each host is moved by all but one", schedule.symmetry.elements()))
      .add("orbits", schedule.symmetry.orbits(),
           fmt::format("{} of {} hosts", schedule.symmetry.orbits(), schedule.symmetry.elements()))
      .add("chunks", schedule.shape.chunks, fmt::format("{} per shard", schedule.shape.chunks));
}

}  // namespace

void generate_symmetric(const GenerateArguments& arguments, Session& session) {
  if (arguments.algorithm != "mcf")
    throw Error(fmt::format("--parametric: {} makes routes of all hosts; expected mcf or an algorithm in closed form",
                            arguments.algorithm));
  if (!arguments.from.empty()) throw Error("--parametric with --from; expected one of them: a start has no symmetry");
  Generation generation(arguments, session);
  const FlowRequest request = flow_request(arguments, generation);
  generation.progress.show("making the network");
  const Topology topology = flow_topology(generation);
  generation.progress.show("finding symmetries");
  const Symmetry symmetry = symmetry_for(topology);
  const auto begin = std::chrono::steady_clock::now();
  SymmetricSynthesis synthesis = symmetric_alltoall(topology, symmetry, request.synthesis, request.most_chunks);
  SymmetricSchedule& schedule = synthesis.schedule;
  FlowFigures figures;
  figures.solve_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  figures.bound = synthesis.bound.time_lower;
  figures.chunk_loss = synthesis.bound.time / synthesis.flow_time - 1;
  figures.gap_asked = request.synthesis.gap;
  if (!arguments.lengths.empty()) write_output(arguments.lengths, lengths_file(topology, synthesis.bound), session);

  generation.progress.show("verifying");
  Fabric fabric = request.layers == LayerMethod::none ? Fabric::lossy : Fabric::lossless;
  SymmetricVerdict verdict = verify_symmetric_on(schedule, topology, fabric);
  bool cycles = false;
  if (!verdict.violations.empty() && fabric == Fabric::lossless) {
    // Layers that repeat exist only where no path takes two links of one orbit.
    verdict = verify_symmetric_on(schedule, topology, Fabric::lossy);
    cycles = verdict.violations.empty();
  }
  report_symmetric_shape(generation.report, schedule, topology);
  generation.report.add("chunk_loss", figures.chunk_loss, fmt::format("{:.3f}%", 100 * figures.chunk_loss))
      .add("routes", verdict.routes)
      .add("layers", verdict.layers,
           fabric == Fabric::lossy ? "none: for networks that drop packets"
           : cycles ? "1, not free of cycles: for networks that drop packets. Layers that repeat cannot be "
                      "free of them here; without --parametric they are"
                    : fmt::format("{}, each free of cycles", verdict.layers))
      .add_hidden("layers_acyclic", !cycles && fabric == Fabric::lossless);
  if (!verdict.violations.empty()) {
    generation.reject(to_string(verdict.violations.front()));
    return generation.end();
  }
  schedule.proof = proof_of_symmetric();
  const double achieved = verdict.busiest_link_s_per_byte * topology.slowest_bandwidth();
  if (!report_time(generation.report, achieved, figures)) generation.miss();
  generation.report.add("solve_seconds", figures.solve_s, seconds_text(figures.solve_s)).add("verified", true);
  schedule.bound =
      fmt::format("all-to-all time {:.8g}, at least {:.8g} shards over the slowest link", achieved, figures.bound);
  generation.write(schedule);
  generation.end();
}

}  // namespace colltopo::cli
