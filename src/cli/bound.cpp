// colltopo bound: what no schedule of a collective can beat on a network; for alltoall the optimum itself, between two
// bounds, with the link lengths that prove it.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <numeric>

#include <fmt/format.h>

#include "cli/bound_forest.h"
#include "cli/certificate.h"
#include "cli/command.h"
#include "cli/demand.h"
#include "cli/flow_loads.h"
#include "cli/progress.h"
#include "colltopo/cost.h"
#include "colltopo/error.h"
#include "colltopo/synthesis.h"

namespace colltopo::cli {

namespace {

struct BoundArguments {
  std::string collective;
  std::string topology;
  std::vector<Breakage> without;
  double gap = 0.01;
  double seconds = std::numeric_limits<double>::infinity();
  int threads = 0;
  bool no_symmetry = false;
  std::string lengths;  // files to write
  std::string loads;
  std::string check_lengths;  // file to read
  NodeId root = 0;
  std::string demand;  // file
};

/// F times this is the goodput of a host in GB/s.
double gigabytes_per_second(const Topology& topology) {
  return (topology.hosts() - 1) * topology.slowest_bandwidth() / 1e9;
}

void report_lower(Report& report, const Topology& topology, double time_lower) {
  const double seconds_per_byte = time_lower / topology.slowest_bandwidth();
  report.add("F_upper", 1 / time_lower, fmt::format("{:.9g}", 1 / time_lower))
      .add("inverse_F_lower", time_lower, fmt::format("{:.9g}", time_lower))
      .add("time_lower_bound", seconds_per_byte,
           fmt::format("{} for one byte from every host to every other", seconds_text(seconds_per_byte)))
      .add("throughput_bound_GBps", gigabytes_per_second(topology) / time_lower,
           fmt::format("{:.6g} GB/s out of every host", gigabytes_per_second(topology) / time_lower));
}

/// Theorem 1 of Basu et al. where it applies: hosts alone, links of equal bandwidth. Hosts of smaller degree than the
/// largest only make a network slower.
void report_degree(Report& report, const Topology& topology, const FlowBound& bound) {
  const std::vector<double> capacity = capacities(topology);
  if (topology.switches() > 0 || *std::max_element(capacity.begin(), capacity.end()) > 1) return;
  std::size_t degree = 0;
  for (NodeId host = 0; host < topology.hosts(); ++host) degree = std::max(degree, topology.links_out(host).size());
  const double least = theorem_1_time(topology.hosts(), static_cast<int>(degree));
  report.add("inverse_F_of_degree", least,
             fmt::format("{:.9g} at least on any network of {} hosts of degree {}; this one takes {:.4g} times as long",
                         least, topology.hosts(), degree, bound.time / least));
}

void report_utilisation(Report& report, const Topology& topology, const FlowBound& bound) {
  std::vector<double> used = capacities(topology);
  for (std::size_t link = 0; link < used.size(); ++link) used[link] = bound.loads[link] / used[link] / bound.time;
  const auto [least, most] = std::minmax_element(used.begin(), used.end());
  const double mean = std::accumulate(used.begin(), used.end(), 0.0) / static_cast<double>(used.size());
  report.add("utilisation", {{"least", *least}, {"mean", mean}, {"most", *most}},
             fmt::format("{:.2f}% to {:.2f}% of a link, {:.2f}% on average", 100 * *least, 100 * *most, 100 * mean));
}

SynthesisOptions synthesis_options(const BoundArguments& arguments) {
  SynthesisOptions options;
  options.gap = arguments.gap;
  options.seconds = arguments.seconds;
  options.threads = arguments.threads;
  options.symmetry = !arguments.no_symmetry;
  return options;
}

void run_alltoall(const BoundArguments& arguments, const Topology& topology, Session& session) {
  SynthesisOptions options = synthesis_options(arguments);
  Progress progress(session);
  options.progress = [&](const FlowBound& bound) {
    progress.show(fmt::format("1/F between {:.9g} and {:.9g}: gap {:.3g}", bound.time_lower, bound.time, bound.gap()));
  };
  const auto began = std::chrono::steady_clock::now();
  const FlowBound bound = alltoall_bound(topology, options);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  progress.clear();

  // Rounding may put the sides of an exact answer the wrong way round in the last digit.
  const double gap = std::max(0.0, bound.gap());
  const bool reached = gap <= arguments.gap;
  Report report;
  report.add("collective", "alltoall")
      .add("topology", topology.name())
      .add("F", 1 / bound.time, fmt::format("{:.9g}", 1 / bound.time))
      .add("inverse_F", bound.time, fmt::format("{:.9g}", bound.time));
  report_lower(report, topology, bound.time_lower);
  report
      .add("throughput_GBps", gigabytes_per_second(topology) / bound.time,
           fmt::format("{:.6g} GB/s out of every host by the flow found", gigabytes_per_second(topology) / bound.time))
      .add("gap", gap,
           fmt::format("{:.2g}{}", gap, reached ? "" : fmt::format(", not the {:.2g} asked for", arguments.gap)));
  report_degree(report, topology, bound);
  report_utilisation(report, topology, bound);
  report.add("seconds", seconds, seconds_text(seconds))
      .add("peak_memory_bytes", peak_memory_bytes(), peak_memory_text());
  print_with_files(report, topology, bound, arguments.lengths, arguments.loads, session);
  if (!reached) session.status = k_examined_is_wrong;
}

void check_lengths(const BoundArguments& arguments, const Topology& topology, Session& session) {
  const Certificate certificate = read_certificate(arguments.check_lengths, topology);
  const double time_lower = time_lower_bound(topology, certificate.lengths, arguments.threads);
  if (!(time_lower > 0))
    throw Error(fmt::format("{}: all lengths are 0; expected one that is not, without it nothing is proved",
                            input_name(arguments.check_lengths)));
  const bool holds = certificate.claim <= time_lower * (1 + 1e-9);
  Report report;
  report.add("collective", "alltoall").add("topology", topology.name());
  report_lower(report, topology, time_lower);
  report.add("claim", certificate.claim, fmt::format("{:.9g}", certificate.claim))
      .add("valid", holds, holds ? "yes" : "no: the lengths prove less than is claimed");
  report.print(session);
  if (!holds) session.status = k_examined_is_wrong;
}

/// By cuts and sums of links; for what no exact method is known of.
void run_by_cuts(const Shape& shape, const Topology& topology, int threads, const Session& session) {
  const BandwidthBound bound = bandwidth_bound(shape, topology);
  Report report;
  report.add("collective", name(shape.collective)).add("topology", topology.name());
  if (rooted(shape.collective)) report.add("root", shape.root, topology.node_name(shape.root));
  report
      .add("time_lower_bound", bound.seconds_per_byte,
           fmt::format("{} for each byte of a call", seconds_text(bound.seconds_per_byte)))
      .add("method", "cuts and sums of links: a true bound, not always reachable")
      .add("reason", bound.reason.empty() ? "nothing has to move" : bound.reason);
  if (combines_and_spreads(shape.collective)) add_pair_of_trees(report, topology, threads);
  report.print(session);
}

void run_alltoallv(const BoundArguments& arguments, Session& session) {
  if (arguments.demand.empty()) throw Error("alltoallv: its blocks have sizes of their own; expected --demand FILE");
  const Topology topology = topology_argument(arguments.topology, arguments.without);
  bound_of_demand(
      {arguments.demand, arguments.lengths, arguments.loads, arguments.check_lengths, synthesis_options(arguments)},
      topology, session);
}

void run_bound(const BoundArguments& arguments, Session& session) {
  if (arguments.lengths == "-" && arguments.loads == "-")
    throw Error("--lengths - --loads -: standard output cannot take both; give one of them a file");
  if (arguments.collective == "alltoallv") return run_alltoallv(arguments, session);
  if (!arguments.demand.empty())
    throw Error(fmt::format("--demand {}: {} has none; expected alltoallv", arguments.demand, arguments.collective));
  const Collective collective = collective_argument(arguments.collective);
  const bool of_alltoall = !arguments.lengths.empty() || !arguments.loads.empty() || !arguments.check_lengths.empty();
  if (collective != Collective::alltoall && of_alltoall)
    throw Error(fmt::format("{}: has no lengths or loads; --lengths, --loads and --check-lengths are for alltoall",
                            arguments.collective));
  if (arguments.root != 0 && !rooted(collective))
    throw Error(
        fmt::format("--root {}: {} has none; expected a collective with a root", arguments.root, arguments.collective));
  const Topology topology = topology_argument(arguments.topology, arguments.without);
  if (collective == Collective::alltoall)
    arguments.check_lengths.empty() ? run_alltoall(arguments, topology, session)
                                    : check_lengths(arguments, topology, session);
  else if (!row(collective).made_of_trees() || combines_and_spreads(collective))
    run_by_cuts({collective, topology.hosts(), 1, arguments.root}, topology, arguments.threads, session);
  else if (rooted(collective))
    bound_of_root(collective, topology, arguments.root, session);
  else
    bound_of_trees(collective, topology, arguments.threads, session);
}

}  // namespace

void add_bound(CLI::App& app, Session& session) {
  CLI::App* command = subcommand(app, session, "bound", "What no schedule of a collective can beat on a network");
  const auto arguments = std::make_shared<BoundArguments>();
  command->add_option("COLLECTIVE", arguments->collective, collective_names(", ") + ", or alltoallv")->required();
  command->add_option("TOPO", arguments->topology, "A topology file, - or a spec such as torus:4x4")->required();
  add_without(*command, arguments->without);
  command->add_option("--root", arguments->root, "Of collectives with one: the root")->capture_default_str();
  command->add_option("--gap", arguments->gap, "alltoall: stop when the bounds are this near, relatively")
      ->check(number(0))
      ->capture_default_str();
  command->add_option("--seconds", arguments->seconds, "alltoall: stop after so many seconds, however near")
      ->check(number(0));
  command->add_option("--threads", arguments->threads, "Threads; 0: all cores")
      ->check(number(0, k_most_threads))
      ->capture_default_str();
  command->add_flag("--no-symmetry", arguments->no_symmetry, "alltoall: treat every host and link on its own");
  command->add_option("--lengths", arguments->lengths, "alltoall: write the link lengths that prove the bound (CSV)");
  command->add_option("--loads", arguments->loads, "alltoall: write the load of every link by the flow (CSV)");
  command->add_option("--demand", arguments->demand,
                      "alltoallv: what every host has for every other, in bytes: a matrix, lines source,target,bytes "
                      "below that header, or Matrix Market");
  command->add_option("--check-lengths", arguments->check_lengths, "alltoall: prove the bound of such a file again");
  command->callback([arguments, &session] { run_bound(*arguments, session); });
}

}  // namespace colltopo::cli
