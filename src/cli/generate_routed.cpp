// colltopo generate for an all-to-all of weighted paths: a method of the table finds them, then they are cut into
// chunks, lowered to messages, put into layers, proved and written (Basu et al., sections 3 and 4).
#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "cli/generate.h"
#include "colltopo/cost.h"
#include "colltopo/error.h"
#include "colltopo/routed.h"
#include "colltopo/verify.h"

namespace colltopo::cli {

namespace {

void read_path_set(const std::string& text, SynthesisOptions& options) {
  if (text == "disjoint" || text == "shortest") {
    options.path_set = text == "disjoint" ? PathSet::disjoint : PathSet::shortest;
    return;
  }
  options.path_set = PathSet::bounded;
  constexpr std::string_view k_bounded = "bounded:";
  const char* const end = text.data() + text.size();
  if (text == "bounded") return;
  const bool has_length = text.starts_with(k_bounded);
  const auto [rest, error] =
      std::from_chars(text.data() + (has_length ? k_bounded.size() : 0), end, options.most_links);
  if (!has_length || error != std::errc() || rest != end || options.most_links < 1)
    throw Error(fmt::format("--paths '{}'; expected disjoint, shortest, bounded or bounded:LINKS", text));
}

LayerMethod layer_method(const std::string& text) {
  if (const auto method = layer_method_named(text)) return *method;
  throw Error(fmt::format("--layers '{}'; expected lash, lash-sequential, df-sssp or none", text));
}

/// What a schedule was made for, tried on all networks that it may be of: the one at hand, that before anything broke,
/// and those that a spec is without its last modifiers ("torus:8x8" of "torus:8x8/drop-links:3:1").
Topology topology_of_start(const Schedule& start, const GenerateArguments& arguments, const Topology& topology) {
  if (!arguments.from_topology.empty()) {
    Topology given = topology_argument(arguments.from_topology);
    if (fingerprint(given) == start.topology) return given;
    throw Error(fmt::format("--from-topology {}: its fingerprint is {}; {} was made for {}", given.name(),
                            fingerprint(given), arguments.from, start.topology));
  }
  if (fingerprint(topology) == start.topology) return topology;
  if (arguments.topology != "-") {
    std::string spec = arguments.topology;
    for (;;) {
      Topology candidate = topology_argument(spec);
      if (fingerprint(candidate) == start.topology) return candidate;
      const std::size_t modifier = spec.find(':') == std::string::npos ? std::string::npos : spec.rfind('/');
      if (modifier == std::string::npos) break;
      spec.resize(modifier);
    }
  }
  throw Error(
      fmt::format("--from {}: made for topology {}, which is neither {} nor that before anything broke; "
                  "--from-topology says which it is",
                  arguments.from, start.topology.empty() ? "unknown" : start.topology, topology.name()));
}

/// The routing of --from on the network at hand; empty without --from.
Routing start_of(const GenerateArguments& arguments, const Topology& topology) {
  if (arguments.from.empty()) return {};
  const Schedule start = schedule_argument(arguments.from);
  if (start.routes.empty())
    throw Error(fmt::format("--from {}: it has no routes; expected a schedule of routes", arguments.from));
  return carried_over(topology_of_start(start, arguments, topology), routing_of(start), topology);
}

Synthesis solve(const RoutingMethod& method, const GenerateArguments& arguments, const Topology& topology,
                Progress& progress) {
  SynthesisOptions options = arguments.synthesis;
  options.symmetry = !arguments.no_symmetry;
  read_path_set(arguments.path_set, options);
  options.progress = [&](const FlowBound& bound) {
    progress.show(fmt::format("{}: time {:.6g}, at least {:.6g}: gap {:.2f}%", method.name, bound.time,
                              bound.time_lower, 100 * bound.gap()));
  };
  if (const std::string refusal = method.refusal(topology, options); !refusal.empty())
    throw Error(fmt::format("{} on {}: {}", method.name, topology.name(), refusal));
  expect_connected(topology);
  const Routing start = start_of(arguments, topology);
  if (start.paths() > 0) options.start = &start;
  progress.show(fmt::format("{} on {}", method.name, topology.name()));
  Synthesis synthesis = method.make(topology, options);
  if (synthesis.bound.time_lower > 0) return synthesis;
  // A method that does not know how good it is: the optimum is found apart.
  const double time = synthesis.bound.time;
  options.start = nullptr;
  synthesis.bound = alltoall_bound(topology, options);
  synthesis.bound.time = time;
  return synthesis;
}

std::string first_fault(const Schedule& schedule, const Topology& topology, LayerMethod layers) {
  if (const Verdict verdict = verify(schedule); !verdict.valid()) return to_string(verdict.violations.front());
  const Fabric fabric = layers == LayerMethod::none ? Fabric::lossy : Fabric::lossless;
  const std::vector<Violation> misfits = verify_on(schedule, topology, fabric);
  return misfits.empty() ? "" : to_string(misfits.front());
}

void report_time(Report& report, double achieved, double bound) {
  const double gap = bound > 0 ? achieved / bound - 1 : 0;
  report.add("F", achieved > 0 ? 1 / achieved : 0, fmt::format("{:.8g}", achieved > 0 ? 1 / achieved : 0))
      .add("achieved", achieved, fmt::format("{:.8g} shards over the slowest link's bandwidth (1/F)", achieved))
      .add("bound", bound, fmt::format("{:.8g}", bound))
      .add("gap", gap, fmt::format("{:.2f}%", 100 * gap));
}

void run(const GenerateArguments& arguments, Session& session) {
  Generation generation(arguments, session);
  if (!arguments.collective.empty() && collective_argument(arguments.collective) != Collective::alltoall)
    throw Error(fmt::format("{} does not do {}; it does: alltoall", arguments.algorithm, arguments.collective));
  const LayerMethod layer_method = cli::layer_method(arguments.layers);
  const Chunk most_chunks = arguments.most_chunks > 0 ? arguments.most_chunks : k_most_chunks_default;
  const Topology topology = generation.topology();
  if (topology.hosts() < 2)
    throw Error(fmt::format("{}: {} host; an all-to-all needs at least 2", topology.name(), topology.hosts()));

  Progress& progress = generation.progress;
  const RoutingMethod& method = *routing_method_named(arguments.algorithm);
  const auto begin = std::chrono::steady_clock::now();
  Synthesis synthesis = solve(method, arguments, topology, progress);
  const double solved_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const double bound = synthesis.bound.time_lower;

  progress.show("cutting shards into chunks");
  const Chunked chunks = chunked(topology, synthesis.routing, most_chunks);
  synthesis.routing = {};
  progress.show("finding layers");
  const std::vector<std::int32_t> layers = layers_of(topology, chunks.routing, layer_method);
  progress.show("lowering");
  Schedule schedule = routed_alltoall(arguments.algorithm, topology, chunks, layers);
  progress.show("verifying");
  const std::string fault = first_fault(schedule, topology, layer_method);

  Report& report = generation.report;
  report.add("name", schedule.name)
      .add("collective", std::string(name(schedule.shape.collective)))
      .add("ranks", schedule.shape.ranks)
      .add("topology", topology.name())
      .add("chunks", chunks.chunks, fmt::format("{} per shard", chunks.chunks))
      .add("chunk_loss", chunks.loss(), fmt::format("{:.3f}%", 100 * chunks.loss()))
      .add("routes", schedule.routes.size())
      .add("layers", layers_in(layers),
           layer_method == LayerMethod::none
               ? "none: for networks that drop packets"
               : fmt::format("{} ({}), each free of cycles", layers_in(layers), name(layer_method)));
  if (!fault.empty()) {
    generation.reject(fault);
    return generation.end();
  }
  const double achieved = all_to_all_time(topology, link_loads(schedule, topology));
  report_time(report, achieved, bound);
  if (const double least = synthesis.time_lower_of_paths; least > 0)
    report.add("bound_of_paths", least, fmt::format("{:.8g}: no other weights on these paths are faster", least));
  if (!synthesis.remark.empty()) report.add("remark", synthesis.remark);
  report.add("solve_seconds", solved_s, seconds_text(solved_s)).add("verified", true);
  schedule.bound = fmt::format("all-to-all time {:.8g}, at least {:.8g} shards over the slowest link", achieved, bound);
  generation.write(schedule);
  generation.end();
}

std::string method_lines() {
  std::string lines;
  for (const RoutingMethod& method : routing_methods())
    lines += fmt::format("  {:<20} {}\n  {:<20}  alltoall\n", method.name, method.about, "");
  return lines;
}

void add_options(CLI::App& command, GenerateArguments& arguments) {
  const std::string group = "Flows and paths";
  SynthesisOptions& synthesis = arguments.synthesis;
  command.add_option("--gap", synthesis.gap, "Stop when the time is proved to be this near the optimum; 0.01 is 1%")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str()
      ->group(group);
  command.add_option("--seconds", synthesis.seconds, "Or when this much time has passed")
      ->check(CLI::PositiveNumber)
      ->group(group);
  command.add_option("--threads", synthesis.threads, "0: all cores")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str()
      ->group(group);
  command.add_flag("--no-symmetry", arguments.no_symmetry, "Do not look for symmetries of the network")->group(group);
  command.add_option("--seed", synthesis.seed, "Of what is left to chance")->capture_default_str()->group(group);
  command.add_option("--paths", arguments.path_set, "mcf-path, ilp: disjoint, shortest, bounded or bounded:LINKS")
      ->capture_default_str()
      ->group(group);
  command.add_option("--epsilon", synthesis.epsilon, "fptas: its accuracy")
      ->check(CLI::Range(1e-6, 0.5))
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--chunks-max", arguments.most_chunks, fmt::format("Per shard; default {}", k_most_chunks_default))
      ->check(CLI::PositiveNumber)
      ->group(group);
  command.add_option("--layers", arguments.layers, "lash, lash-sequential, df-sssp or none")
      ->capture_default_str()
      ->group(group);
  command.add_option("--from", arguments.from, "A schedule to begin with: of this network or of it unbroken")
      ->group(group);
  command.add_option("--from-topology", arguments.from_topology, "What --from was made for, if it is another network")
      ->group(group);
}

}  // namespace

GenerateKind routings() {
  return {[](const std::string& algorithm) { return routing_method_named(algorithm) != nullptr; }, method_lines,
          add_options, run};
}

}  // namespace colltopo::cli
