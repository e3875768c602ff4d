#include "cli/prepare_hosts.h"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include "cli/command.h"
#include "colltopo/error.h"
#include "colltopo/placement.h"
#include "comm/forced.h"

namespace colltopo::cli {

namespace {

constexpr int k_most_slots = 1 << 16;

struct Line {
  std::string name;
  int slots = 1;
};

/// Of one name, all its lines together, in the order in which names first come.
std::vector<Line> lines_of(const std::string& file) {
  std::istringstream in(file_contents(file));
  std::vector<Line> all;
  int number = 0;
  for (std::string text; std::getline(in, text);) {
    ++number;
    std::istringstream words(text.substr(0, text.find('#')));
    Line line;
    if (!(words >> line.name)) continue;
    const std::string place = fmt::format("{}:{}: slots of {}", file, number, line.name);
    if (const std::size_t colon = line.name.find(':'); colon != std::string::npos) {
      line.slots = whole_number(place, line.name.substr(colon + 1), 0, k_most_slots);
      line.name.resize(colon);
    }
    for (std::string word; words >> word;)
      if (word.starts_with("slots=")) line.slots = whole_number(place, word.substr(6), 0, k_most_slots);
    const auto known = std::ranges::find(all, line.name, &Line::name);
    if (known == all.end())
      all.push_back(line);
    else
      known->slots += line.slots;
  }
  if (all.empty()) throw Error(fmt::format("{}: no host; expected lines such as 'node1 slots=4'", file));
  return all;
}

Topology with_names(const Topology& machine, const std::vector<Line>& lines) {
  TopologyBuilder builder(machine.name(), machine.hosts(), machine.switches());
  for (NodeId node = 0; node < machine.nodes(); ++node)
    builder.name_node(node,
                      machine.is_host(node) ? lines[static_cast<std::size_t>(node)].name : machine.node_name(node));
  for (const Link& link : machine.links()) builder.link(link.tail, link.head, link.bandwidth, link.latency);
  if (!machine.sides().empty())
    builder.grid(machine.sides(), machine.wraps());
  else if (!machine.arrangement().empty())
    builder.arrange(machine.arrangement());
  return std::move(builder.route(machine.single_paths())).build();
}

}  // namespace

Hosts hosts_of_file(Topology machine, const std::string& file) {
  const std::vector<Line> lines = lines_of(file);
  std::vector<std::string> names;
  names.reserve(static_cast<std::size_t>(machine.hosts()));
  for (NodeId host = 0; host < machine.hosts(); ++host) names.push_back(machine.node_name(host));
  const HostNames known(names);
  Hosts hosts{std::move(machine), std::vector<int>(names.size(), 0)};
  const Line* stranger = nullptr;
  std::size_t met = 0;
  for (const Line& line : lines) {
    const NodeId host = known.host(line.name);
    if (host >= 0) ++met, hosts.ranks_on[static_cast<std::size_t>(host)] += line.slots;
    if (host < 0 && stranger == nullptr) stranger = &line;
  }
  if (stranger == nullptr) return hosts;
  if (met > 0 || lines.size() != names.size())
    throw Error(fmt::format("{}: host {} is not in {}, which has {} hosts; expected its names, or as many others", file,
                            stranger->name, hosts.machine.name(), names.size()));
  hosts.machine = with_names(hosts.machine, lines);
  std::ranges::transform(lines, hosts.ranks_on.begin(), [](const Line& line) { return line.slots; });
  return hosts;
}

}  // namespace colltopo::cli
