// Broken networks: cables and hosts that are gone, by name or by lot, and whether the hosts that remain reach each
// other (Basu et al., 5.3: disabled links, punctured tori).
#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/index.h"
#include "base/lines.h"
#include "base/random.h"
#include "colltopo/error.h"
#include "colltopo/topology.h"
#include "topology/modifiers.h"

namespace colltopo {

namespace {

constexpr std::size_t k_most_named = 20;  // hosts in one message

/// What of a topology is gone.
struct Gone {
  std::vector<bool> hosts;  // [host]
  std::vector<bool> links;  // [link]

  explicit Gone(const Topology& topology)
      : hosts(index(topology.hosts()), false), links(topology.links().size(), false) {}
};

/// Both links of a cable, or one link that nothing comes back on.
using CableLinks = std::vector<LinkId>;

/// A link pairs with the first unpaired one of its bandwidth that goes the other way.
std::vector<CableLinks> cables_of(const Topology& topology) {
  std::map<std::tuple<NodeId, NodeId, double>, std::vector<std::size_t>> unpaired;  // into cables
  std::vector<CableLinks> cables;
  for (LinkId id = 0; index(id) < topology.links().size(); ++id) {
    const Link& link = topology.link(id);
    std::vector<std::size_t>& waiting = unpaired[{link.head, link.tail, link.bandwidth}];
    if (waiting.empty()) {
      unpaired[{link.tail, link.head, link.bandwidth}].push_back(cables.size());
      cables.push_back({id});
    } else {
      cables[waiting.front()].push_back(id);
      waiting.erase(waiting.begin());
    }
  }
  return cables;
}

enum class Direction { forwards, backwards };

/// [node] whether data from `start` gets there, or from there to `start`, with what is not gone.
std::vector<bool> reached(const Topology& topology, NodeId start, Direction direction, const Gone& gone) {
  std::vector<bool> seen(index(topology.nodes()), false);
  std::vector<NodeId> waiting{start};
  seen[index(start)] = true;
  const bool forwards = direction == Direction::forwards;
  while (!waiting.empty()) {
    const NodeId node = waiting.back();
    waiting.pop_back();
    for (const LinkId id : forwards ? topology.links_out(node) : topology.links_in(node)) {
      const NodeId next = forwards ? topology.link(id).head : topology.link(id).tail;
      if (gone.links[index(id)] || seen[index(next)] || (topology.is_host(next) && gone.hosts[index(next)])) continue;
      seen[index(next)] = true;
      waiting.push_back(next);
    }
  }
  return seen;
}

/// Two hosts, the first of which cannot reach the second; equal when all reach each other.
struct CutOff {
  NodeId from = 0, to = 0;
};
CutOff hosts_cut_off(const Topology& topology, const Gone& gone) {
  const auto first = std::find(gone.hosts.begin(), gone.hosts.end(), false);
  if (first == gone.hosts.end()) return {};
  const auto start = static_cast<NodeId>(first - gone.hosts.begin());
  for (const Direction direction : {Direction::forwards, Direction::backwards}) {
    const std::vector<bool> seen = reached(topology, start, direction, gone);
    for (NodeId host = start; host < topology.hosts(); ++host) {
      if (gone.hosts[index(host)] || seen[index(host)]) continue;
      return direction == Direction::forwards ? CutOff{start, host} : CutOff{host, start};
    }
  }
  return {};
}

bool connected_without(const Topology& topology, const Gone& gone) {
  const CutOff pair = hosts_cut_off(topology, gone);
  return pair.from == pair.to;
}

/// The hosts outside the largest set of hosts that all reach each other.
std::vector<NodeId> outside_largest_set(const Topology& topology, const Gone& gone) {
  std::vector<bool> placed = gone.hosts, largest(placed.size(), false);
  std::ptrdiff_t most = 0;
  for (NodeId host = 0; host < topology.hosts(); ++host) {
    if (placed[index(host)]) continue;
    std::vector<bool> set = reached(topology, host, Direction::forwards, gone);
    const std::vector<bool> back = reached(topology, host, Direction::backwards, gone);
    set.resize(placed.size());
    for (std::size_t h = 0; h < set.size(); ++h) {
      set[h] = set[h] && back[h] && !gone.hosts[h];
      placed[h] = placed[h] || set[h];
    }
    if (const auto size = std::count(set.begin(), set.end(), true); size > most) {
      most = size;
      largest = std::move(set);
    }
  }
  std::vector<NodeId> outside;
  for (NodeId host = 0; host < topology.hosts(); ++host)
    if (!gone.hosts[index(host)] && !largest[index(host)]) outside.push_back(host);
  return outside;
}

std::string unreachable_hosts(const Topology& topology, const Gone& gone) {
  const CutOff pair = hosts_cut_off(topology, gone);
  if (pair.from == pair.to) return "";
  return fmt::format("host {} cannot reach host {}", topology.node_name(pair.from), topology.node_name(pair.to));
}

void expect_connected(const Topology& topology, const Gone& gone, const std::string& name) {
  const std::string fault = unreachable_hosts(topology, gone);
  if (fault.empty()) return;
  const std::vector<NodeId> outside = outside_largest_set(topology, gone);
  std::string hosts;
  for (std::size_t i = 0; i < std::min(outside.size(), k_most_named); ++i)
    hosts += (i == 0 ? "" : ", ") + topology.node_name(outside[i]);
  if (outside.size() > k_most_named) hosts += fmt::format(" and {} more", outside.size() - k_most_named);
  throw Error(fmt::format("{}: {}; every host must reach every other; cut off: {}", name, fault, hosts));
}

Topology remaining(const Topology& topology, const Gone& gone, const std::string& name) {
  std::vector<NodeId> renumbered(index(topology.nodes()), -1);
  NodeId next = 0, hosts = 0;
  for (NodeId node = 0; node < topology.nodes(); ++node) {
    if (!topology.is_host(node) || !gone.hosts[index(node)]) renumbered[index(node)] = next++;
    if (node + 1 == topology.hosts()) hosts = next;
  }
  TopologyBuilder builder(name, hosts, topology.switches());
  for (NodeId node = 0; node < topology.nodes(); ++node)
    if (renumbered[index(node)] >= 0) builder.name_node(renumbered[index(node)], topology.node_name(node));
  bool whole = hosts == topology.hosts();
  for (LinkId id = 0; index(id) < topology.links().size(); ++id) {
    const Link& link = topology.link(id);
    const NodeId tail = renumbered[index(link.tail)], head = renumbered[index(link.head)];
    if (gone.links[index(id)] || tail < 0 || head < 0)
      whole = false;
    else
      builder.link(tail, head, link.bandwidth, link.latency);
  }
  if (whole && !topology.sides().empty())
    builder.grid(topology.sides(), topology.wraps());
  else if (hosts == topology.hosts() && !topology.arrangement().empty())
    builder.arrange(topology.arrangement());
  return std::move(builder.route(topology.single_paths())).build();
}

using NodesByName = std::map<std::string_view, NodeId>;
NodesByName nodes_by_name(const Topology& topology) {
  NodesByName nodes;
  for (NodeId node = 0; node < topology.nodes(); ++node) nodes.emplace(topology.node_name(node), node);
  return nodes;
}

struct Ends {
  NodeId a = 0, b = 0;
};

/// Of "A-B"; names may themselves contain dashes.
Ends ends_named(const NodesByName& nodes, std::string_view cable, const std::string& spec) {
  for (std::size_t dash = cable.find('-'); dash != std::string_view::npos; dash = cable.find('-', dash + 1)) {
    const auto a = nodes.find(cable.substr(0, dash)), b = nodes.find(cable.substr(dash + 1));
    if (a != nodes.end() && b != nodes.end()) return {a->second, b->second};
  }
  throw Error(
      fmt::format("{}: cable {} joins no two nodes; expected A-B, both names of nodes", spec, in_quotes(cable)));
}

Topology without_links(const Topology& topology, std::span<const std::string> cables, const std::string& spec) {
  const NodesByName nodes = nodes_by_name(topology);
  Gone gone(topology);
  for (const std::string& cable : cables) {
    const Ends ends = ends_named(nodes, cable, spec);
    bool found = false;
    for (const Ends& way : {ends, Ends{ends.b, ends.a}}) {
      for (const LinkId id : topology.links_out(way.a)) {
        if (topology.link(id).head != way.b) continue;
        gone.links[index(id)] = found = true;
      }
    }
    if (!found)
      throw Error(fmt::format("{}: no link between {} and {}; expected the ends of a cable", spec,
                              topology.node_name(ends.a), topology.node_name(ends.b)));
  }
  expect_connected(topology, gone, spec);
  return remaining(topology, gone, spec);
}

struct ByLot {
  std::int64_t count = 0;
  std::uint64_t seed = 1;
};

ByLot lot_argument(const std::string& spec, const std::string& argument, std::string_view expected) {
  const std::vector<std::string> words = split_at(argument, ':');
  const auto whole = [&](const std::string& text) {
    std::int32_t value = -1;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || rest != end || value < 0 || words.size() > 2)
      throw Error(fmt::format("{}: {}; expected {}", spec, in_quotes(argument), expected));
    return value;
  };
  ByLot lot;
  lot.count = whole(words[0]);
  if (words.size() > 1) lot.seed = static_cast<std::uint64_t>(whole(words[1]));
  return lot;
}

Topology without_hosts(const Topology& topology, std::span<const std::string> hosts, const std::string& name) {
  const NodesByName nodes = nodes_by_name(topology);
  Gone gone(topology);
  for (const std::string& host : hosts) {
    const auto found = nodes.find(host);
    if (found == nodes.end() || !topology.is_host(found->second))
      throw Error(fmt::format("{}: no host {}; expected names of hosts", name, in_quotes(host)));
    gone.hosts[index(found->second)] = true;
  }
  if (std::find(gone.hosts.begin(), gone.hosts.end(), false) == gone.hosts.end())
    throw Error(fmt::format("{}: no host remains; expected one that stays", name));
  expect_connected(topology, gone, name);
  return remaining(topology, gone, name);
}

/// Lets `count` of `candidates` go in an order drawn by lot, passing over those that hosts need. `let_go` takes one
/// away, `take_back` undoes that.
template <typename LetGo, typename TakeBack>
std::int64_t let_go_by_lot(const ByLot& lot, std::size_t candidates, const Topology& topology, const Gone& gone,
                           const LetGo& let_go, const TakeBack& take_back) {
  std::vector<std::size_t> order(candidates);
  std::iota(order.begin(), order.end(), std::size_t{0});
  Lots(lot.seed).shuffle(order);
  std::int64_t let_gone = 0;
  for (const std::size_t candidate : order) {
    if (let_gone == lot.count) break;
    let_go(candidate);
    if (connected_without(topology, gone))
      ++let_gone;
    else
      take_back(candidate);
  }
  return let_gone;
}

}  // namespace

std::string unreachable_hosts(const Topology& topology) { return unreachable_hosts(topology, Gone(topology)); }

void expect_connected(const Topology& topology) { expect_connected(topology, Gone(topology), topology.name()); }

Topology without_links(const Topology& topology, std::span<const std::string> cables) {
  return without_links(topology, cables, fmt::format("{}/drop-links:{}", topology.name(), fmt::join(cables, ",")));
}

Topology without_hosts(const Topology& topology, std::span<const std::string> hosts) {
  return without_hosts(topology, hosts, fmt::format("{}/drop-hosts:={}", topology.name(), fmt::join(hosts, ",")));
}

Topology drop_links(const Topology& topology, const std::string& spec, const std::string& argument) {
  if (argument.find('-') != std::string::npos) return without_links(topology, split_at(argument, ','), spec);
  const ByLot lot = lot_argument(spec, argument, "K or K:SEED, whole numbers of 0 or more, or cables A-B,C-D by name");
  expect_connected(topology, Gone(topology), spec);
  const std::vector<CableLinks> cables = cables_of(topology);
  Gone gone(topology);
  const auto set = [&](std::size_t cable, bool value) {
    for (const LinkId id : cables[cable]) gone.links[index(id)] = value;
  };
  const std::int64_t dropped = let_go_by_lot(
      lot, cables.size(), topology, gone, [&](std::size_t cable) { set(cable, true); },
      [&](std::size_t cable) { set(cable, false); });
  if (dropped < lot.count)
    throw Error(
        fmt::format("{}: only {} of {} cables could go, hosts need the rest to reach each other; expected fewer", spec,
                    dropped, cables.size()));
  return remaining(topology, gone, spec);
}

Topology drop_hosts(const Topology& topology, const std::string& spec, const std::string& argument) {
  if (argument.starts_with('=')) return without_hosts(topology, split_at(argument.substr(1), ','), spec);
  const ByLot lot = lot_argument(spec, argument, "K or K:SEED, whole numbers of 0 or more, or =A,B by name");
  expect_connected(topology, Gone(topology), spec);
  if (lot.count >= topology.hosts())
    throw Error(
        fmt::format("{}: {} of {} hosts; expected fewer, so that one stays", spec, lot.count, topology.hosts()));
  Gone gone(topology);
  const std::int64_t dropped = let_go_by_lot(
      lot, gone.hosts.size(), topology, gone, [&](std::size_t host) { gone.hosts[host] = true; },
      [&](std::size_t host) { gone.hosts[host] = false; });
  if (dropped < lot.count)
    throw Error(
        fmt::format("{}: only {} of {} hosts could go, the others need the rest to reach each other; expected "
                    "fewer",
                    spec, dropped, topology.hosts()));
  return remaining(topology, gone, spec);
}

}  // namespace colltopo
