// Ranks on hosts: the derived topology, and which rank has which place in it.
#include "colltopo/placement.h"
#include "base/lines.h"

#include <algorithm>
#include <charconv>
#include <numeric>

#include <fmt/format.h>

#include "colltopo/error.h"

namespace colltopo {

namespace {

constexpr int k_most_ranks_on_a_host = 1 << 16;

/// Nodes of the machine and ranks by their numbers in the derived topology.
struct Renumbering {
  std::vector<NodeId> node;        // [node of the machine]; a host of several ranks is its switch
  std::vector<NodeId> first_rank;  // [host of the machine]
  NodeId ranks = 0;
  NodeId switches = 0;
};

Renumbering renumber(const Topology& machine, std::span<const int> ranks_on) {
  Renumbering numbers;
  numbers.node.resize(static_cast<std::size_t>(machine.nodes()));
  for (const int count : ranks_on) {
    numbers.first_rank.push_back(numbers.ranks);
    numbers.ranks += count;
  }
  for (NodeId node = 0; node < machine.nodes(); ++node) {
    const auto at = static_cast<std::size_t>(node);
    numbers.node[at] =
        machine.is_host(node) && ranks_on[at] == 1 ? numbers.first_rank[at] : numbers.ranks + numbers.switches++;
  }
  return numbers;
}

double bandwidth_out(const Topology& machine, NodeId host) {
  double bandwidth = 0;
  for (const LinkId link : machine.links_out(host)) bandwidth += machine.link(link).bandwidth;
  return bandwidth > 0 ? bandwidth : k_default_bandwidth;
}

std::string_view up_to_dot(std::string_view name) { return name.substr(0, name.find('.')); }

template <typename Names>
NodeId found_in(const Names& names, std::string_view name) {
  const auto at = std::lower_bound(names.begin(), names.end(), name,
                                   [](const auto& entry, std::string_view wanted) { return entry.first < wanted; });
  return at != names.end() && at->first == name ? at->second : -1;
}

}  // namespace

Topology with_ranks(const Topology& machine, std::span<const int> ranks_on, std::string name) {
  if (ranks_on.size() != static_cast<std::size_t>(machine.hosts()))
    throw Error(fmt::format("{}: ranks for {} hosts; it has {}", machine.name(), ranks_on.size(), machine.hosts()));
  for (const int count : ranks_on)
    if (count < 0 || count > k_most_ranks_on_a_host)
      throw Error(fmt::format("{}: {} ranks on a host; expected 0..{}", machine.name(), count, k_most_ranks_on_a_host));
  if (std::ranges::all_of(ranks_on, [](int count) { return count == 1; })) return machine;
  const Renumbering numbers = renumber(machine, ranks_on);
  if (numbers.ranks == 0) throw Error(fmt::format("{}: no ranks; expected at least one", machine.name()));

  TopologyBuilder builder(name.empty() ? machine.name() : std::move(name), numbers.ranks, numbers.switches);
  const auto renumbered = [&](NodeId node) { return numbers.node[static_cast<std::size_t>(node)]; };
  for (NodeId node = 0; node < machine.nodes(); ++node) builder.name_node(renumbered(node), machine.node_name(node));
  for (const Link& link : machine.links())
    builder.link(renumbered(link.tail), renumbered(link.head), link.bandwidth, link.latency);
  for (NodeId host = 0; host < machine.hosts(); ++host) {
    const auto at = static_cast<std::size_t>(host);
    if (ranks_on[at] < 2) continue;
    const double bandwidth = bandwidth_out(machine, host);
    for (int i = 0; i < ranks_on[at]; ++i) {
      const NodeId rank = numbers.first_rank[at] + i;
      builder.name_node(rank, fmt::format("{}.{}", machine.node_name(host), i));
      builder.link(rank, renumbered(host), bandwidth, 0).link(renumbered(host), rank, bandwidth, 0);
    }
  }
  return std::move(builder.route(machine.single_paths())).build();
}

std::vector<int> ranks_on_hosts(std::string_view text, NodeId hosts) {
  const auto refuse = [&](std::string_view fault) {
    throw Error(
        fmt::format("ranks {}: {}; expected a number of ranks for every host, or a list for {} hosts such as "
                    "2,1,0*{}",
                    in_quotes(text), fault, hosts, std::max(1, hosts - 2)));
  };
  const auto number = [&](std::string_view digits) {
    int value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc{} || end != digits.data() + digits.size() || value < 0)
      refuse(fmt::format("{} is no number of 0 or more", in_quotes(digits)));
    return value;
  };
  std::vector<int> ranks_on;
  bool list = false;
  for (std::string_view rest = text;;) {
    const std::size_t comma = rest.find(',');
    const std::string_view item = rest.substr(0, comma);
    const std::size_t star = item.find('*');
    const int times = star == std::string_view::npos ? 1 : number(item.substr(star + 1));
    list = list || star != std::string_view::npos;
    if (times > hosts - static_cast<NodeId>(ranks_on.size())) refuse("more numbers than hosts");
    ranks_on.insert(ranks_on.end(), static_cast<std::size_t>(times), number(item.substr(0, star)));
    if (comma == std::string_view::npos) break;
    list = true;
    rest.remove_prefix(comma + 1);
  }
  if (!list) ranks_on.assign(static_cast<std::size_t>(hosts), ranks_on.front());
  if (static_cast<NodeId>(ranks_on.size()) != hosts) refuse(fmt::format("{} numbers", ranks_on.size()));
  return ranks_on;
}

RankPlaces places_of(const Topology& machine, std::span<const NodeId> host_of) {
  RankPlaces places;
  places.ranks_on.assign(static_cast<std::size_t>(machine.hosts()), 0);
  for (const NodeId host : host_of) ++places.ranks_on[static_cast<std::size_t>(host)];
  places.rank_at.resize(host_of.size());
  std::iota(places.rank_at.begin(), places.rank_at.end(), 0);
  std::ranges::stable_sort(places.rank_at, {}, [&](Rank rank) { return host_of[static_cast<std::size_t>(rank)]; });
  places.place_of.resize(host_of.size());
  for (std::size_t place = 0; place < places.rank_at.size(); ++place)
    places.place_of[static_cast<std::size_t>(places.rank_at[place])] = static_cast<Rank>(place);
  places.in_order = std::ranges::is_sorted(places.rank_at);
  return places;
}

HostNames::HostNames(std::span<const std::string> names) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    whole_.emplace_back(names[i], static_cast<NodeId>(i));
    short_.emplace_back(up_to_dot(names[i]), static_cast<NodeId>(i));
  }
  std::ranges::sort(whole_);
  std::ranges::sort(short_);
  // A short name of several hosts stands for none of them.
  std::vector<std::pair<std::string, NodeId>> unique;
  for (std::size_t i = 0; i < short_.size(); ++i)
    if ((i == 0 || short_[i - 1].first != short_[i].first) &&
        (i + 1 == short_.size() || short_[i + 1].first != short_[i].first))
      unique.push_back(short_[i]);
  short_ = std::move(unique);
}

NodeId HostNames::host(std::string_view name) const {
  const NodeId whole = found_in(whole_, name);
  return whole >= 0 ? whole : found_in(short_, up_to_dot(name));
}

}  // namespace colltopo
