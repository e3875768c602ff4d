// Modifiers of spec strings, in one table, and those that change links: their speed, and how much a host can send.
#include "topology/modifiers.h"

#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "base/lines.h"
#include "colltopo/error.h"
#include "colltopo/placement.h"

namespace colltopo {

namespace {

/// Nodes with their names and arrangement, and no links; `more_switches` follow the others.
TopologyBuilder nodes_of(const Topology& topology, const std::string& name, NodeId more_switches) {
  TopologyBuilder builder(name, topology.hosts(), std::int64_t{topology.switches()} + more_switches);
  for (NodeId node = 0; node < topology.nodes(); ++node) builder.name_node(node, topology.node_name(node));
  if (!topology.arrangement().empty()) builder.arrange(topology.arrangement());
  builder.route(topology.single_paths());
  return builder;
}

/// The same graph with other links: `change` edits each.
template <typename Change>
TopologyBuilder with_links(const Topology& topology, const std::string& name, const Change& change) {
  TopologyBuilder builder = nodes_of(topology, name, 0);
  for (Link link : topology.links()) {
    change(link);
    builder.link(link.tail, link.head, link.bandwidth, link.latency);
  }
  if (!topology.sides().empty()) builder.grid(topology.sides(), topology.wraps());
  return builder;
}

Topology with_bandwidth(const Topology& topology, const std::string& spec, const std::string& argument) {
  double bandwidth = 0;
  if (!parse_bandwidth(argument, bandwidth) || bandwidth <= 0)
    throw Error(
        fmt::format("{}: bandwidth {}; expected a number above 0 and one of bps kbps Mbps Gbps Tbps (bits) or "
                    "Bps kBps MBps GBps TBps (bytes)",
                    spec, in_quotes(argument)));
  return with_links(topology, spec, [&](Link& link) { link.bandwidth = bandwidth; }).build();
}

Topology with_latency(const Topology& topology, const std::string& spec, const std::string& argument) {
  double latency = 0;
  if (!parse_latency(argument, latency) || latency < 0)
    throw Error(
        fmt::format("{}: latency {}; expected a number of 0 or more and one of ns us ms s", spec, in_quotes(argument)));
  return with_links(topology, spec, [&](Link& link) { link.latency = latency; }).build();
}

Topology with_routes(const Topology& topology, const std::string& spec, const std::string& argument) {
  const std::optional<SinglePaths> paths = single_paths_named(argument);
  if (!paths) throw Error(fmt::format("{}: routes {}; expected lowest or hash", spec, in_quotes(argument)));
  TopologyBuilder builder = with_links(topology, spec, [](Link&) {});
  return std::move(builder.route(*paths)).build();
}

Topology with_ranks_on_hosts(const Topology& topology, const std::string& spec, const std::string& argument) {
  try {
    return with_ranks(topology, ranks_on_hosts(argument, topology.hosts()), spec);
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", spec, error.what()));
  }
}

/// Bytes per second from a number of links, the unit being the slowest link.
double in_link_units(const Topology& topology, const std::string& spec, const std::string& argument) {
  double links = 0;
  const char* const end = argument.data() + argument.size();
  const auto [rest, error] = std::from_chars(argument.data(), end, links);
  if (error != std::errc{} || rest != end || !std::isfinite(links) || links <= 0)
    throw Error(fmt::format("{}: {} links; expected a number above 0, such as 4 or 2.5", spec, in_quotes(argument)));
  if (topology.links().empty())
    throw Error(fmt::format("{}: no links to limit; expected a topology that has some", spec));
  return links * topology.slowest_bandwidth();
}

// Basu et al., 3.2.2 and Fig. 2. Every host gets a switch that its links leave from and one that they arrive at; what
// arrives can leave again only through the host, so forwarding takes from the same limit as sending. Links keep their
// numbers; those of the limit follow, two per host.
Topology with_host_bandwidth(const Topology& topology, const std::string& spec, const std::string& argument) {
  const double limit = in_link_units(topology, spec, argument);
  const NodeId hosts = topology.hosts();
  TopologyBuilder builder = nodes_of(topology, spec, 2 * hosts);
  const auto out = [&](NodeId host) { return topology.nodes() + 2 * host; };
  const auto in = [&](NodeId host) { return topology.nodes() + 2 * host + 1; };
  for (const Link& link : topology.links())
    builder.link(topology.is_host(link.tail) ? out(link.tail) : link.tail,
                 topology.is_host(link.head) ? in(link.head) : link.head, link.bandwidth, link.latency);
  for (NodeId host = 0; host < hosts; ++host) {
    builder.name_node(out(host), topology.node_name(host) + ".out")
        .name_node(in(host), topology.node_name(host) + ".in")
        .link(host, out(host), limit, 0)
        .link(in(host), host, limit, 0);
  }
  return std::move(builder).build();
}

// A network card that forwards by itself: one switch per host carries the links, and only what the host itself sends
// and receives is limited.
Topology with_injection(const Topology& topology, const std::string& spec, const std::string& argument) {
  const double limit = in_link_units(topology, spec, argument);
  const NodeId hosts = topology.hosts();
  TopologyBuilder builder = nodes_of(topology, spec, hosts);
  const auto card = [&](NodeId node) { return topology.is_host(node) ? topology.nodes() + node : node; };
  for (const Link& link : topology.links())
    builder.link(card(link.tail), card(link.head), link.bandwidth, link.latency);
  for (NodeId host = 0; host < hosts; ++host) {
    builder.name_node(card(host), topology.node_name(host) + ".nic")
        .link(host, card(host), limit, 0)
        .link(card(host), host, limit, 0);
  }
  return std::move(builder).build();
}

constexpr std::array k_modifiers{
    Modifier{"bandwidth", "25Gbps", "of every link, per direction (default 25Gbps)", with_bandwidth},
    Modifier{"latency", "1us", "of every link (default 1us)", with_latency},
    Modifier{"routes", "lowest or hash", "which of equally short paths the network takes by itself (default unknown)",
             with_routes},
    Modifier{"ranks", "2 or 2,1,0*6", "of ranks on every host, or on each; hosts without any forward",
             with_ranks_on_hosts},
    Modifier{"host-bandwidth", "LINKS", "a host sends, receives and forwards at most LINKS times the slowest link",
             with_host_bandwidth},
    Modifier{"injection", "LINKS", "a host sends and receives at most that; its network card forwards by itself",
             with_injection},
    Modifier{"drop-links", "K[:SEED]", "K cables less, by lot, hosts staying connected; or by name: 0-1,5-6",
             drop_links},
    Modifier{"drop-hosts", "K[:SEED]",
             "K hosts less, by lot, the others staying connected and keeping their names; or by name: =A,B",
             drop_hosts},
};

}  // namespace

std::span<const Modifier> modifiers() { return k_modifiers; }

}  // namespace colltopo
