// Requests, starts, proofs and reports of schedules that are made from flows.
#include "cli/generate_flow.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/lines.h"
#include "cli/certificate.h"
#include "cli/demand.h"
#include "colltopo/chunking.h"
#include "colltopo/cost.h"
#include "colltopo/error.h"
#include "colltopo/forwarding.h"
#include "colltopo/routed.h"
#include "colltopo/verify_sections.h"

namespace colltopo::cli {

namespace {

void read_path_set(const std::string& text, SynthesisOptions& options) {
  if (text == "disjoint" || text == "widened" || text == "shortest") {
    options.path_set = text == "disjoint"  ? PathSet::disjoint
                       : text == "widened" ? PathSet::widened
                                           : PathSet::shortest;
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
    throw Error(
        fmt::format("--paths {}; expected disjoint, widened, shortest, bounded or bounded:LINKS", in_quotes(text)));
}

// Fractions are tried up to it, and buffers have 2^30 chunks.
constexpr double k_most_chunks_asked = 100'000;

// What one large block among small ones needs to take its paths by their shares.
constexpr Chunk k_most_chunks_of_demand = 1024;

// As many as lash-sequential puts into layers in some twenty seconds.
constexpr std::size_t k_most_routes_sequential = 2'000'000;

std::optional<LayerMethod> layer_method_argument(const std::string& text) {
  if (text.empty()) return {};
  if (const auto method = layer_method_named(text)) return *method;
  throw Error(fmt::format("--layers {}; expected lash, lash-sequential, df-sssp or none", in_quotes(text)));
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

void put_into_layers(Schedule& schedule, const Topology& topology, LayerMethod method) {
  std::vector<std::span<const LinkId>> routes;
  routes.reserve(schedule.routes.size());
  for (const Route& route : schedule.routes) routes.emplace_back(route.links);
  const std::vector<std::int32_t> layers = layers_of(topology, RouteLinks(routes), method);
  for (std::size_t i = 0; i < layers.size(); ++i) schedule.routes[i].layer = layers[i];
}

/// The time of the schedule itself in shards over the slowest link: the busiest links of all steps together.
double time_of(const Cost& cost, const Topology& topology) {
  double s_per_byte = 0;
  for (const StepCost& step : cost.steps) s_per_byte += step.busiest_link_s_per_byte;
  return s_per_byte * topology.slowest_bandwidth();
}

}  // namespace

bool report_time(Report& report, double achieved, const FlowFigures& figures) {
  const double bound = figures.bound;
  // Rounding may put the sides of an exact answer the wrong way round in the last digit.
  const double gap = bound > 0 ? std::max(0.0, achieved / bound - 1) : 0;
  if (figures.demand == nullptr)
    report.add("F", achieved > 0 ? 1 / achieved : 0, fmt::format("{:.8g}", achieved > 0 ? 1 / achieved : 0));
  else
    report.add("demand", figures.demand->total(), demand_text(*figures.demand));
  report
      .add("achieved", achieved,
           fmt::format("{:.8g} {}", achieved,
                       figures.demand == nullptr ? "shards over the slowest link's bandwidth (1/F)"
                                                 : "bytes over the slowest link's bandwidth, of the demand"))
      .add("bound", bound, fmt::format("{:.8g}", bound))
      .add("gap", gap, fmt::format("{:.2f}%", 100 * gap));
  if (figures.gap_asked < 0) return true;
  // As it was asked for, with room for the last digits of both sides.
  const bool met = gap <= figures.gap_asked + 1e-9;
  report.add_hidden("gap_asked", figures.gap_asked).add_hidden("gap_met", met);
  if (!met)
    report.add("missed", gap - figures.gap_asked,
               fmt::format("the gap asked for, {:g}%: the flow has {:.3g}%, whole chunks change that by {:.3g}%",
                           100 * figures.gap_asked, 100 * ((1 + gap) / (1 + figures.chunk_loss) - 1),
                           100 * figures.chunk_loss));
  return met;
}

FlowRequest flow_request(const GenerateArguments& arguments, Generation& generation) {
  if (!arguments.collective.empty() && collective_argument(arguments.collective) != Collective::alltoall)
    throw Error(fmt::format("{} does not do {}; it does: alltoall", arguments.algorithm, arguments.collective));
  FlowRequest request;
  request.layers = layer_method_argument(arguments.layers);
  request.most_chunks = arguments.most_chunks > 0  ? arguments.most_chunks
                        : arguments.demand.empty() ? k_most_chunks_default
                                                   : k_most_chunks_of_demand;
  request.synthesis = arguments.synthesis;
  request.synthesis.children = arguments.children == "lp" ? Children::linear_programs : Children::stripping;
  read_path_set(arguments.path_set, request.synthesis);
  request.synthesis.progress = [&generation, algorithm = arguments.algorithm](const FlowBound& bound) {
    generation.progress.show(fmt::format("{}: time {:.6g}, at least {:.6g}: gap {:.2f}%", algorithm, bound.time,
                                         bound.time_lower, 100 * bound.gap()));
  };
  return request;
}

Topology flow_topology(const Generation& generation) {
  Topology topology = generation.topology();
  if (topology.hosts() < 2)
    throw Error(fmt::format("{}: {} host; an all-to-all needs at least 2", topology.name(), topology.hosts()));
  expect_connected(topology);
  return topology;
}

void read_demand(const GenerateArguments& arguments, const Topology& topology, FlowRequest& request) {
  if (arguments.demand.empty()) return;
  request.demand = std::make_unique<const Demand>(demand_argument(arguments.demand, topology));
  request.synthesis.demand = request.demand.get();
}

FlowStart start_of(const GenerateArguments& arguments, const Topology& topology) {
  if (arguments.from.empty() && !arguments.from_lengths.empty())
    throw Error(fmt::format("--from-lengths {}: without --from; expected the schedule that these lengths belong to",
                            arguments.from_lengths));
  if (arguments.from.empty()) return {};
  const Schedule start = schedule_argument(arguments.from);
  if (start.routes.empty())
    throw Error(fmt::format("--from {}: it has no routes; expected a schedule of routes", arguments.from));
  const Topology before = topology_of_start(start, arguments, topology);
  FlowStart carried{carried_over(before, routing_of(start), topology), {}};
  if (!arguments.from_lengths.empty())
    carried.lengths = carried_over(before, read_certificate(arguments.from_lengths, before).lengths, topology);
  return carried;
}

LayerMethod layer_method_for(const FlowRequest& request, std::size_t routes) {
  return request.layers.value_or(routes > k_most_routes_sequential ? LayerMethod::df_sssp
                                                                   : LayerMethod::lash_sequential);
}

void finish(Generation& generation, Schedule schedule, const Topology& topology, LayerMethod method,
            const FlowFigures& figures) {
  generation.progress.show("finding planes");
  schedule = with_planes_as_lanes(std::move(schedule), topology);
  generation.progress.show("finding layers");
  put_into_layers(schedule, topology, method);
  finish(generation, sections_of(schedule), topology, method, figures);
}

void finish(Generation& generation, SectionedSchedule schedule, const Topology& topology, LayerMethod method,
            const FlowFigures& figures) {
  generation.progress.show("verifying");
  Schedule& facts = schedule.facts;
  const Verdict verdict = verify(schedule);
  const Fabric fabric = method == LayerMethod::none ? Fabric::lossy : Fabric::lossless;
  const SectionsOn on = verdict.valid() ? examine_on(schedule, topology, fabric) : SectionsOn{verdict.violations};
  const auto layers = on.layers.empty() ? 0 : *on.layers.rbegin() + 1;

  Report& report = generation.report;
  report.add("name", facts.name)
      .add("collective", std::string(name(facts.shape.collective)))
      .add("ranks", facts.shape.ranks)
      .add("topology", topology.name())
      .add("steps", schedule.steps)
      .add("chunks", facts.shape.chunks, fmt::format("{} per shard", facts.shape.chunks))
      .add("chunk_loss", figures.chunk_loss, fmt::format("{:.3f}%", 100 * figures.chunk_loss))
      .add("routes", on.routes)
      .add("planes", on.planes);
  if (method == LayerMethod::none)
    report.add("layers", layers, "none: for networks that drop packets");
  else
    report.add("layers", layers, fmt::format("{} ({}), each free of cycles", layers, name(method)));
  if (!on.violations.empty()) {
    generation.reject(to_string(on.violations.front()));
    return generation.end();
  }
  facts.proof = proof_of(verdict);
  const Demand* const demand = figures.demand;
  const double achieved = demand == nullptr ? time_of(on.cost, topology)
                                            : all_to_all_time(topology, link_loads(whole(schedule), topology, *demand));
  if (!report_time(report, achieved, figures)) generation.miss();
  report.add("solve_seconds", figures.solve_s, seconds_text(figures.solve_s)).add("verified", true);
  facts.bound =
      demand == nullptr
          ? fmt::format("all-to-all time {:.8g}, at least {:.8g} shards over the slowest link", achieved, figures.bound)
          : fmt::format("for a demand of {:.8g} bytes: {:.8g}, at least {:.8g} of them over the slowest link",
                        demand->total(), achieved, figures.bound);
  generation.write(schedule);
  generation.end();
}

void add_flow_options(CLI::App& command, GenerateArguments& arguments) {
  const std::string group = "Flows and paths";
  SynthesisOptions& synthesis = arguments.synthesis;
  command.add_option("--gap", synthesis.gap, "Stop when the time is proved to be this near the optimum; 0.01 is 1%")
      ->check(number(0))
      ->capture_default_str()
      ->group(group);
  command.add_option("--seconds", synthesis.seconds, "Or when this much time has passed")
      ->check(number(0))
      ->group(group);
  command.add_option("--threads", synthesis.threads, "0: all cores")
      ->check(number(0, k_most_threads))
      ->capture_default_str()
      ->group(group);
  command.add_option("--children", arguments.children, "mcf-master: strip, or lp for the paper's child programs")
      ->check(CLI::IsMember({"strip", "lp"}))
      ->capture_default_str()
      ->group(group);
  command.add_option("--seed", synthesis.seed, "Of what is left to chance; of the tree of a ring")
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--paths", arguments.path_set, "mcf-path, ilp: disjoint, widened, shortest, bounded or bounded:LINKS")
      ->capture_default_str()
      ->group(group);
  command.add_option("--epsilon", synthesis.epsilon, "fptas: its accuracy")
      ->check(number(1e-6, 0.333))
      ->capture_default_str()
      ->group(group);
  command
      .add_option(
          "--chunks-max", arguments.most_chunks,
          fmt::format("Per shard; default {}, with --demand {}", k_most_chunks_default, k_most_chunks_of_demand))
      ->check(number(1, k_most_chunks_asked))
      ->group(group);
  command
      .add_option("--layers", arguments.layers,
                  "lash, lash-sequential, df-sssp or none; default: lash-sequential, above two million routes df-sssp")
      ->group(group);
  command
      .add_flag("--spare-routes", arguments.spare_routes,
                "List all paths of --paths as routes, those without chunks too: for traffic of other sizes")
      ->group(group);
  command.add_option("--from", arguments.from, "A schedule to begin with: of this network or of it unbroken")
      ->group(group);
  command.add_option("--from-lengths", arguments.from_lengths, "mcf: what --lengths wrote when --from was made")
      ->group(group);
  command.add_option("--lengths", arguments.lengths, "File for the lengths of links that prove the bound")
      ->group(group);
  command
      .add_option("--demand", arguments.demand,
                  "mcf: a file of the bytes that every host has for every other (as for bound alltoallv), or -")
      ->group(group);
  command.add_option("--from-topology", arguments.from_topology, "What --from was made for, if it is another network")
      ->group(group);
}

}  // namespace colltopo::cli
