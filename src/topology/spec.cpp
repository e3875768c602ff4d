// Spec strings: FAMILY:PARAMETER[:PARAMETER...][/MODIFIER:ARGUMENT...], read from left to right.
#include <array>

#include <fmt/format.h>

#include "colltopo/error.h"
#include "colltopo/placement.h"
#include "colltopo/topology.h"
#include "topology/families.h"

namespace colltopo {

namespace {

std::vector<std::string> split_at(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

/// The same graph with other links: `change` edits each.
template <typename Change>
Topology with_links(const Topology& topology, const std::string& name, const Change& change) {
  TopologyBuilder builder(name, topology.hosts(), topology.switches());
  for (NodeId node = 0; node < topology.nodes(); ++node) builder.name_node(node, topology.node_name(node));
  for (Link link : topology.links()) {
    change(link);
    builder.link(link.tail, link.head, link.bandwidth, link.latency);
  }
  if (!topology.sides().empty()) builder.grid(topology.sides(), topology.wraps());
  return std::move(builder).build();
}

Topology with_bandwidth(const Topology& topology, const std::string& spec, const std::string& argument) {
  double bandwidth = 0;
  if (!parse_bandwidth(argument, bandwidth) || bandwidth <= 0)
    throw Error(
        fmt::format("{}: bandwidth '{}'; expected a number above 0 and one of bps kbps Mbps Gbps Tbps (bits) or "
                    "Bps kBps MBps GBps TBps (bytes)",
                    spec, argument));
  return with_links(topology, spec, [&](Link& link) { link.bandwidth = bandwidth; });
}

Topology with_latency(const Topology& topology, const std::string& spec, const std::string& argument) {
  double latency = 0;
  if (!parse_latency(argument, latency) || latency < 0)
    throw Error(fmt::format("{}: latency '{}'; expected a number of 0 or more and one of ns us ms s", spec, argument));
  return with_links(topology, spec, [&](Link& link) { link.latency = latency; });
}

Topology with_ranks_on_hosts(const Topology& topology, const std::string& spec, const std::string& argument) {
  try {
    return with_ranks(topology, ranks_on_hosts(argument, topology.hosts()), spec);
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", spec, error.what()));
  }
}

struct Modifier {
  std::string_view name;
  std::string_view argument;
  std::string_view about;
  Topology (*apply)(const Topology& topology, const std::string& spec, const std::string& argument);
};
constexpr std::array<Modifier, 3> k_modifiers{{
    {"bandwidth", "25Gbps", "of every link, per direction (default 25Gbps)", with_bandwidth},
    {"latency", "1us", "of every link (default 1us)", with_latency},
    {"ranks", "2 or 2,1,0*6", "of ranks on every host, or on each; hosts without any forward", with_ranks_on_hosts},
}};

template <typename Rows>
std::string names_of(const Rows& rows) {
  std::string names;
  for (const auto& row : rows) names += (names.empty() ? "" : " ") + std::string(row.name);
  return names;
}

template <typename Rows>
const auto& row_named(const Rows& rows, const std::string& name, const std::string& spec, std::string_view what) {
  for (const auto& row : rows)
    if (row.name == name) return row;
  throw Error(fmt::format("{}: unknown {} '{}'; expected one of: {}", spec, what, name, names_of(rows)));
}

}  // namespace

Topology topology_of(std::string_view text) {
  const std::string spec(text);
  const std::vector<std::string> parts = split_at(text, '/');

  std::vector<std::string> words = split_at(parts.front(), ':');
  FamilySpec family_spec{spec, words.front(), {words.begin() + 1, words.end()}};
  Topology topology = row_named(families(), family_spec.name, spec, "topology family").make(family_spec);

  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::size_t colon = parts[i].find(':');
    const Modifier& modifier = row_named(k_modifiers, parts[i].substr(0, colon), spec, "modifier");
    topology = modifier.apply(topology, spec, colon == std::string::npos ? "" : parts[i].substr(colon + 1));
  }
  return topology;
}

std::string topology_specs() {
  std::string lines;
  for (const Family& family : families())
    lines += fmt::format("  {:<22} {}\n", fmt::format("{}:{}", family.name, family.parameters), family.about);
  for (const Modifier& modifier : k_modifiers)
    lines += fmt::format("  {:<22} {}\n", fmt::format("/{}:{}", modifier.name, modifier.argument), modifier.about);
  return lines;
}

}  // namespace colltopo
