#include "import/switch_tree.h"

#include <algorithm>

#include <fmt/format.h>

#include "import/limits.h"
#include "import/network.h"

namespace colltopo::import {

void SwitchTree::add_switch(std::string_view name, double link_bandwidth, std::int64_t line) {
  const auto [known, added] = by_name_.emplace(name, switches_.size());
  if (!added)
    throw source_.error(line, fmt::format("switch {} again; it is on line {} already and names must differ",
                                          in_quotes(name), switches_[known->second].line));
  switches_.push_back({std::string(name), link_bandwidth, line, {}, {}});
}

void SwitchTree::expect_more(const std::vector<std::string>& names) {
  for (const std::string& name : names) listed_bytes_ += name.size();
  listed_ += names.size();
  if (listed_ > Limits::k_most_listed || listed_bytes_ > Limits::k_most_listed_bytes)
    throw source_.error(switches_.back().line,
                        fmt::format("{} names of {} bytes in all lists; expected at most {} of {}", listed_,
                                    listed_bytes_, Limits::k_most_listed, Limits::k_most_listed_bytes));
}

void SwitchTree::add_hosts(const std::vector<std::string>& names) {
  expect_more(names);
  std::vector<std::string>& hosts = switches_.back().hosts;
  hosts.insert(hosts.end(), names.begin(), names.end());
}

void SwitchTree::add_switches(const std::vector<std::string>& names) {
  expect_more(names);
  std::vector<std::string>& switches = switches_.back().switches;
  switches.insert(switches.end(), names.begin(), names.end());
}

SwitchTree::Index SwitchTree::known(const std::string& name, std::int64_t line) const {
  const auto found = by_name_.find(name);
  if (found == by_name_.end())
    throw source_.error(line, fmt::format("switch {} is nowhere in the file; expected a line of its own that says "
                                          "what hangs below it",
                                          in_quotes(name)));
  return found->second;
}

/// An order in which every switch comes after those below it.
std::vector<SwitchTree::Index> SwitchTree::lowest_first() const {
  std::vector<std::size_t> waits_for(switches_.size());
  std::vector<std::vector<Index>> above(switches_.size());
  std::vector<Index> order;
  for (Index at = 0; at < switches_.size(); ++at) {
    waits_for[at] = switches_[at].switches.size();
    for (const std::string& below : switches_[at].switches) above[known(below, switches_[at].line)].push_back(at);
    if (waits_for[at] == 0) order.push_back(at);
  }
  for (std::size_t next = 0; next < order.size(); ++next)
    for (const Index parent : above[order[next]])
      if (--waits_for[parent] == 0) order.push_back(parent);
  if (order.size() == switches_.size()) return order;
  for (Index at = 0;; ++at)
    if (waits_for[at] > 0)
      throw source_.error(switches_[at].line, fmt::format("switch {} hangs, through others, below itself; expected "
                                                          "levels of switches without a cycle",
                                                          in_quotes(switches_[at].name)));
}

/// [switch] of each of its links upwards.
std::vector<double> SwitchTree::upward_bandwidths(double host) const {
  std::vector<int> parents(switches_.size(), 0);
  for (const Switch& each : switches_)
    for (const std::string& below : each.switches) ++parents[known(below, each.line)];
  std::vector<double> upward(switches_.size(), 0);
  for (const Index at : lowest_first()) {
    const Switch& each = switches_[at];
    const auto link = [&](double assumed) { return each.link_bandwidth > 0 ? each.link_bandwidth : assumed; };
    double from_below = static_cast<double>(each.hosts.size()) * link(host);
    for (const std::string& below : each.switches) from_below += link(upward[known(below, each.line)]);
    upward[at] = from_below / std::max(parents[at], 1);
  }
  return upward;
}

Topology SwitchTree::topology(const std::string& name) const {
  const double host_bandwidth = source_.bandwidth("host", k_default_bandwidth);
  const double uplink = source_.bandwidth("uplink", 0);
  const double latency = source_.latency("latency", k_default_latency);
  const std::vector<double> upward = upward_bandwidths(host_bandwidth);

  Network network(source_);
  network.set_name(name);
  std::vector<Network::Node> node;
  for (const Switch& each : switches_) node.push_back(network.declare(each.name, Kind::switching, each.line));
  for (Index at = 0; at < switches_.size(); ++at) {
    const Switch& each = switches_[at];
    const auto join = [&](Network::Node below, double assumed) {
      network.cable(below, node[at], each.link_bandwidth > 0 ? each.link_bandwidth : assumed, latency, each.line);
    };
    for (const std::string& host : each.hosts) {
      if (by_name_.count(host) > 0)
        throw source_.error(each.line,
                            fmt::format("{} is a host here and a switch on line {}; expected one or the other",
                                        in_quotes(host), switches_[by_name_.at(host)].line));
      const auto before = network.find(host);  // a host may hang below several switches
      join(before ? *before : network.declare(host, Kind::host, each.line), host_bandwidth);
    }
    for (const std::string& below : each.switches) {
      const Index child = by_name_.at(below);
      join(node[child], uplink > 0 ? uplink : upward[child]);
    }
  }
  return std::move(network).topology();
}

}  // namespace colltopo::import
