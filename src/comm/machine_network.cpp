// Ranks meet the hosts of a network by name, or in order where it has no names.
#include "comm/machine_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>
#include <sstream>

#include "base/lines.h"
#include "base/read_file.h"
#include "colltopo/error.h"
#include "comm/agreement.h"
#include "comm/file_stamps.h"

namespace colltopo {

namespace {

/// Hosts by the order in which ranks first name them; nothing when they are not as many as the network's.
std::optional<std::vector<NodeId>> in_order(const Topology& network, std::span<const std::string> host_names) {
  std::map<std::string_view, NodeId> numbers;
  std::vector<NodeId> host_of;
  for (const std::string& name : host_names)
    host_of.push_back(numbers.emplace(name, static_cast<NodeId>(numbers.size())).first->second);
  if (numbers.size() != static_cast<std::size_t>(network.hosts())) return std::nullopt;
  return host_of;
}

}  // namespace

namespace {

struct MachineNetwork {
  std::shared_ptr<const Topology> network;
  LinkConstants links;
  long long checksum = 0;
  std::string stamp;  // of the file, before it was read
};

std::string stamp_of(const std::string& text) {
  const std::size_t end = end_of_file_name(text);
  return end == 0 ? "" : stamp_of_file(text.substr(0, end));
}

MachineNetwork machine_of(Topology network, long long checksum, std::string stamp) {
  const LinkConstants links = link_constants(network);
  return {std::make_shared<const Topology>(std::move(network)), links, checksum, std::move(stamp)};
}

MachineNetwork machine_of(const std::string& text) {
  const std::size_t end = end_of_file_name(text);
  if (end == 0) return machine_of(topology_of(text), checksum_of(text), "");
  std::string stamp = stamp_of(text);
  const std::string path = text.substr(0, end);
  std::istringstream in(read_file(path, k_topology_file));
  Topology read = read_topology(in, path);
  const long long checksum = checksum_of(in.str());
  if (end < text.size()) read = modified(std::move(read), text.substr(end + 1), text);
  return machine_of(std::move(read), checksum, std::move(stamp));
}

MachineNetwork machine(const std::string& text, bool now = false) {
  static auto* const mutex = new std::mutex;
  static auto* const machines = new std::map<std::string, MachineNetwork>;
  const std::lock_guard lock(*mutex);
  MachineNetwork& machine = (*machines)[text];
  if (machine.network == nullptr || (now && machine.stamp != stamp_of(text))) machine = machine_of(text);
  return machine;
}

}  // namespace

std::shared_ptr<const Topology> machine_network(const std::string& text) { return machine(text).network; }

std::shared_ptr<const Topology> machine_network_now(const std::string& text) { return machine(text, true).network; }

LinkConstants machine_links(const std::string& text) { return machine(text).links; }

std::shared_ptr<const NodeNetwork> node_network(const std::shared_ptr<const Topology>& network,
                                                const std::vector<NodeId>& host_of) {
  struct Known {
    std::shared_ptr<const Topology> network;
    std::vector<NodeId> host_of;
    std::shared_ptr<const NodeNetwork> links;
  };
  constexpr std::size_t k_most_known = 16;
  static auto* const mutex = new std::mutex;
  static auto* const all = new std::vector<Known>;  // latest last
  const std::lock_guard lock(*mutex);
  const auto found = std::ranges::find_if(
      *all, [&](const Known& known) { return known.network == network && known.host_of == host_of; });
  if (found != all->end()) return found->links;
  if (all->size() == k_most_known) all->erase(all->begin());
  Known known{network, host_of, nullptr};
  try {
    known.links = std::make_shared<const NodeNetwork>(*network, host_of);
  } catch (const Error&) {
  }
  return all->emplace_back(std::move(known)).links;
}

Placement placement_on(const std::shared_ptr<const Topology>& network, std::vector<int> node_of,
                       std::span<const NodeId> host_of, const std::vector<int>& sides) {
  Placement placement{std::move(node_of), {}};
  const bool is_known = !host_of.empty();
  std::vector<NodeId> hosts(host_of.begin(), host_of.end());
  std::ranges::sort(hosts);
  const auto used = std::unique(hosts.begin(), hosts.end()) - hosts.begin();
  if (is_known && used == network->hosts()) placement.node_of.assign(host_of.begin(), host_of.end());
  const auto nodes = static_cast<std::size_t>(placement.nodes());
  std::size_t product = 1;
  for (const int side : sides) product *= static_cast<std::size_t>(side);
  if (product == nodes) placement.dimensions = sides;
  if (!is_known || nodes < 2 || host_of.size() > static_cast<std::size_t>(k_most_ranks_by_link)) return placement;
  std::vector<NodeId> host_of_node(nodes);
  for (std::size_t rank = 0; rank < host_of.size(); ++rank)
    host_of_node[static_cast<std::size_t>(placement.node_of[rank])] = host_of[rank];
  placement.network = node_network(network, host_of_node);
  return placement;
}

long long machine_checksum(const std::string& text) { return text.empty() ? 0 : machine(text).checksum; }

std::vector<std::string> listed_hosts(const std::string& setting) {
  std::vector<std::string> hosts;
  std::error_code none;
  // No host's name has a slash, so a file was meant.
  if (setting.find('/') != std::string::npos || std::filesystem::is_regular_file(setting, none)) {
    std::istringstream in(read_file(setting, k_hosts_file));
    for (std::string line; std::getline(in, line);) {
      std::istringstream words(line.substr(0, line.find('#')));
      if (std::string name; words >> name) hosts.push_back(name);
    }
  } else {
    std::istringstream names(setting);
    for (std::string name; std::getline(names, name, ',');)
      if (!name.empty()) hosts.push_back(name);
  }
  if (hosts.empty())
    throw Error(fmt::format("hosts is {}; must be a file with a host name per line, or a list node1,node2,...",
                            in_quotes(setting)));
  return hosts;
}

std::optional<std::vector<NodeId>> hosts_of_ranks(const Topology& network, std::span<const std::string> listed,
                                                  std::span<const std::string> host_names, std::string* why) {
  std::vector<std::string> names(listed.begin(), listed.end());
  if (names.empty())
    for (NodeId host = 0; host < network.hosts(); ++host) names.push_back(network.node_name(host));
  if (names.size() != static_cast<std::size_t>(network.hosts())) {
    *why = fmt::format("hosts lists {} names, topology {} has {} hosts", names.size(), network.name(), network.hosts());
    return std::nullopt;
  }
  const HostNames hosts(names);
  std::vector<NodeId> host_of;
  const std::string* stranger = nullptr;
  for (const std::string& name : host_names) {
    host_of.push_back(hosts.host(name));
    if (host_of.back() < 0 && stranger == nullptr) stranger = &name;
  }
  if (stranger == nullptr) return host_of;
  const bool some_known = std::ranges::any_of(host_of, [](NodeId host) { return host >= 0; });
  if (!some_known && listed.empty())
    if (auto ordered = in_order(network, host_names)) return ordered;
  *why = fmt::format("host {} is not in topology {}{}", *stranger, network.name(),
                     listed.empty() ? "; the parameter hosts can name its hosts" : " by the names of hosts");
  return std::nullopt;
}

std::string with_ranks_text(const std::string& network, std::span<const int> ranks_on) {
  if (std::ranges::all_of(ranks_on, [&](int count) { return count == ranks_on.front(); }))
    return ranks_on.front() == 1 ? network : fmt::format("{}/ranks:{}", network, ranks_on.front());
  std::string list;
  for (std::size_t first = 0; first < ranks_on.size();) {
    std::size_t end = first;
    while (end < ranks_on.size() && ranks_on[end] == ranks_on[first]) ++end;
    list += fmt::format("{}{}", list.empty() ? "" : ",", ranks_on[first]);
    if (end - first > 1) list += fmt::format("*{}", end - first);
    first = end;
  }
  return fmt::format("{}/ranks:{}", network, list);
}

}  // namespace colltopo
