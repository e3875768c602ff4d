// colltopo topology: facts of a network, or its file.
#include <cmath>
#include <memory>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/command.h"
#include "colltopo/error.h"
#include "colltopo/import.h"
#include "topology/orbits.h"

namespace colltopo::cli {

namespace {

struct TopologyArguments {
  std::string topology;
  std::vector<Breakage> without;
  std::string format;
  std::string output;
  std::string to;
};

std::string range(double least, double most) {
  return least == most ? bandwidth_text(least) : fmt::format("{} to {}", bandwidth_text(least), bandwidth_text(most));
}

bool has_one_way_links(const Topology& topology) {
  std::vector<NodeId> linked_from(static_cast<std::size_t>(topology.nodes()), -1);  // [node] where it was last
  const auto last = [&](NodeId node) -> NodeId& { return linked_from[static_cast<std::size_t>(node)]; };
  for (NodeId node = 0; node < topology.nodes(); ++node) {
    for (const LinkId id : topology.links_out(node)) last(topology.link(id).head) = node;
    for (const LinkId id : topology.links_in(node))
      if (last(topology.link(id).tail) != node) return true;
  }
  return false;
}

/// "yes: all hosts are alike", "no: 3 kinds of links".
std::string kinds_text(int orbits, std::string_view noun) {
  return orbits == 1 ? fmt::format("yes: all {} are alike", noun) : fmt::format("no: {} kinds of {}", orbits, noun);
}

void add_symmetry(Report& report, const Orbits& orbits) {
  report.add("vertex_transitive", orbits.host_orbits <= 1, kinds_text(orbits.host_orbits, "hosts"))
      .add("link_transitive", orbits.link_orbits <= 1, kinds_text(orbits.link_orbits, "links"))
      .add_hidden("host_orbits", orbits.host_orbits)
      .add_hidden("link_orbits", orbits.link_orbits)
      .add("automorphisms", orbits.log10_group_size,
           orbits.log10_group_size < 9 ? fmt::format("{:.0f}", std::pow(10.0, orbits.log10_group_size))
                                       : fmt::format("about 10^{:.1f}", orbits.log10_group_size));
}

/// Theorem 1 is about hosts joined directly by links that are all alike.
void add_theorem_1(Report& report, const Topology& topology, const TopologyFacts& facts) {
  if (!facts.regular || !facts.connected || topology.switches() > 0 || facts.slowest_link != facts.fastest_link) return;
  const double time = theorem_1_time(topology.hosts(), facts.largest_degree);
  report.add("theorem_1_time", time,
             fmt::format("{:.6g} or more: 1/F of an all-to-all (Basu et al., Theorem 1)", time));
}

void run_topology(const TopologyArguments& arguments, const Session& session) {
  const Topology topology = topology_argument(arguments.topology, arguments.without, arguments.format);
  if (!arguments.to.empty() && arguments.output.empty()) throw Error("--to needs -o: the file to write, or -");
  if (!arguments.output.empty()) {
    const std::string to = arguments.to.empty() ? std::string(format_of_file_name(arguments.output)) : arguments.to;
    write_output(arguments.output, export_topology(topology, to), session);
    if (arguments.output == "-") return;
  }
  const Orbits orbits = orbits_of(topology);
  const TopologyFacts facts = facts_of(topology, orbits);
  Report report;
  report.add("name", topology.name())
      .add("hosts", facts.hosts)
      .add("switches", facts.switches)
      .add("links", facts.links,
           fmt::format("{} ({})", facts.links,
                       has_one_way_links(topology) ? "some go one way only" : "each cable is two"))
      .add("degree", facts.largest_degree,
           facts.smallest_degree == facts.largest_degree
               ? ""
               : fmt::format("{} to {}", facts.smallest_degree, facts.largest_degree))
      .add_hidden("smallest_degree", facts.smallest_degree)
      .add("regular", facts.regular)
      .add("connected", facts.connected, facts.connected ? "" : "no: " + unreachable_hosts(topology))
      .add("diameter", facts.diameter, facts.connected ? fmt::format("{} hops", facts.diameter) : "none: not connected")
      .add("average_distance", facts.average_distance, fmt::format("{:.4g} hops", facts.average_distance));
  add_symmetry(report, orbits);
  add_theorem_1(report, topology, facts);
  if (!topology.sides().empty()) {
    report
        .add("sides", topology.sides(),
             fmt::format("{}{}", fmt::join(topology.sides(), "x"),
                         topology.wraps() ? ", wraps around" : ", no wrap-around"))
        .add_hidden("wraps", topology.wraps());
  }
  if (topology.single_paths() != SinglePaths::unknown)
    report.add("routes", name(topology.single_paths()),
               fmt::format("of equally short paths, {}", topology.single_paths() == SinglePaths::lowest
                                                             ? "each node takes its first link"
                                                             : "each node takes one by hash"));
  report.add("bandwidth", facts.slowest_link, range(facts.slowest_link, facts.fastest_link) + " per link and direction")
      .add_hidden("fastest_bandwidth", facts.fastest_link)
      .add("bisection", facts.bisection,
           fmt::format("{} or less (narrowest halving found)", bandwidth_text(facts.bisection)))
      .add("fingerprint", fingerprint(topology));
  if (!arguments.output.empty()) report.add("file", arguments.output);
  report.print(session);
}

}  // namespace

void add_topology(CLI::App& app, Session& session) {
  CLI::App* command = subcommand(app, session, "topology", "Facts of a topology, or its file");
  const auto arguments = std::make_shared<TopologyArguments>();
  command->add_option("TOPO", arguments->topology, "A topology file, - or a spec such as torus:4x4")->required();
  add_without(*command, arguments->without);
  command->add_option("--format", arguments->format,
                      "Format of the file, NAME or NAME:OPTION=VALUE,... (default: its contents tell)");
  command->add_option("-o,--output", arguments->output, "Write the topology; .graphml, .dot, .edges or else JSON");
  command->add_option("--to", arguments->to, "Format to write, whatever the file's name")
      ->check(CLI::IsMember({"json", "graphml", "dot", "edges"}));
  command->footer("Specs:\n" + topology_specs() + "  switches:FILE          a file in one of the formats below\n" +
                  "File formats and their options:\n" + topology_formats());
  command->callback([arguments, &session] { run_topology(*arguments, session); });
}

}  // namespace colltopo::cli
