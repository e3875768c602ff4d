// What a selector finds out before the first call, with all ranks: settings, places, files, and what earlier jobs
// remembered.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <utility>

#include "colltopo/node_network.h"
#include "comm/build_id.h"
#include "comm/file_stamps.h"
#include "comm/machine_network.h"
#include "comm/selector.h"

namespace colltopo {

namespace {

// Places by the order in which they first appear: a torus of nodes counts them so, whatever the caller calls them.
void number_from_0(std::vector<int>& places) {
  const std::shared_ptr<const Groups> groups = grouped(places);
  places.assign(groups->all().begin(), groups->all().end());
}

/// [rank] its host; empty where they are not known.
std::vector<NodeId> hosts_of(const RankPlaces& places) {
  std::vector<NodeId> hosts(places.rank_at.size());
  for (std::size_t host = 0, place = 0; host < places.ranks_on.size(); ++host)
    for (int i = 0; i < places.ranks_on[host]; ++i, ++place)
      hosts[static_cast<std::size_t>(places.rank_at[place])] = static_cast<NodeId>(host);
  return hosts;
}

constexpr const char* k_settings = "different settings";

/// To find out which settings differ: each by itself.
Findings each_setting(const Settings& settings) {
  std::map<std::string, std::string> given;
  std::istringstream lines(settings.canonical);
  for (std::string line; std::getline(lines, line);) given[line.substr(0, line.find('='))] = line;
  Findings findings;
  for (const colltopo_setting* setting = colltopo_settings(); setting->name != nullptr; ++setting)
    findings.same("different values of ", checksum_of(given[setting->name]), setting->name);
  return findings;
}

}  // namespace

// What a rank finds without its peers is agreed on in one go. Places that ranks must tell each other come after that:
// whether to ask for them is itself a setting.
bool Selector::settle(const colltopo_callbacks& callbacks, std::string* fault, bool* leaves) {
  node_of_.assign(static_cast<std::size_t>(ranks_), 0);
  std::optional<std::size_t> leaves_at;  // until it is known
  bool have_met = false;
  const auto agreed = [&](const Findings& findings, std::optional<std::size_t> length_at, std::size_t* length) {
    Agreement::Result result = have_met ? agreement_.agree(findings) : agreement_.meet(findings, callbacks);
    have_met = true;
    if (!result.good) {
      if (result.different == k_settings) {
        const Agreement::Result each = agreement_.agree(each_setting(settings_));
        if (!each.different.empty()) result = each;
      }
      decline_all();
      *fault = std::move(result.fault);
    }
    if (result.good && leaves_at) *leaves = result.largest(*std::exchange(leaves_at, {})) == 1;
    if (result.good && length_at) *length = static_cast<std::size_t>(result.largest(*length_at));
    return result.good;
  };
  // Facts are as many on every rank, whatever one of them cannot find out.
  const auto found_out = [](Findings& findings, const auto& look) {
    try {
      return look();
    } catch (const std::exception& error) {
      findings.fault(error.what());
      return 0LL;
    }
  };
  const auto places = [&](Findings& findings) {
    findings.same("different places in the network", found_out(findings, [&] {
                    if (!find_places(callbacks)) findings.fault("cannot find out which ranks share a node");
                    if (!settings_.topology.empty() || !settings_.schedules.empty())
                      filed_.place(settings_, rank_, ranks_, callbacks);
                    return checksum_of(node_of_) ^ checksum_of(filed_.placement_text());
                  }));
  };
  Findings own;
  if (!fault->empty()) own.fault(std::exchange(*fault, ""));
  own.same("different builds of colltopo", build_checksum());
  own.same(k_settings, checksum_of(settings_.canonical));
  own.same("different kinds of processors", static_cast<long long>(callbacks.architecture >> 2));
  const long long network = found_out(own, [&] { return machine_checksum(settings_.topology); });
  own.same("different topologies under ", network, settings_.topology);
  own.same("different lists of hosts", checksum_of(fmt::format("{}", fmt::join(settings_.hosts, ","))));
  own.same("different sides of the network", checksum_of(settings_.dimensions));
  const long long rules = found_out(own, [&] {
    if (!settings_.rules.empty()) rules_ = Rules::read(settings_.rules);
    return rules_ ? rules_->checksum() : 0LL;
  });
  own.same("different rules under ", rules, settings_.rules);
  leaves_at = own.largest(*leaves ? 1 : 0);
  // What rank 0 remembers goes to all, if it is anything: how much of it costs no message to say.
  std::string remembered, unread;
  std::optional<std::size_t> length_at;
  std::size_t length = 0;
  const auto place_all = [&](Findings& findings) {
    places(findings);
    kind_ = kind_of_communicator(node_of_, settings_.canonical, network);
    if (rank_ == 0) remembered = own_memory(callbacks, &unread);
    length_at = findings.largest(static_cast<long long>(remembered.size()));
  };
  if (callbacks.places_are_local != 0) place_all(own);
  if (!agreed(own, length_at, &length)) return false;
  if (declines_all()) return false;
  if (callbacks.places_are_local == 0) {
    Findings found;
    place_all(found);
    if (!agreed(found, length_at, &length)) return false;
  }
  if (!unread.empty()) voice_.say(0, unread);
  take_memory(agreement_.text_of_rank_0(remembered, length));
  if (settings_.group.size == 0 && settings_.group.level != COLLTOPO_NODE && callbacks.locality != nullptr) {
    std::vector<int> group_of(node_of_);
    Findings found;
    if (callbacks.locality(callbacks.context, settings_.group.level, group_of.data()) != 0)
      found.fault("cannot find out which ranks share a place of the setting group");
    number_from_0(group_of);
    found.same("different groups", checksum_of(group_of));
    if (!agreed(found, {}, nullptr)) return false;
    options_.groups = grouped(group_of);
  }
  const Placement placement = fit_topology();
  if (rules_) rules_fingerprint_ = filed_.fingerprint();
  chooser_ = shared_chooser(ranks_, placement, machine_, options_, settings_.values, measured_);
  if (measured_ != nullptr && voice_.heard(1)) voice_.say(1, error_text(measured_, chooser_->expected_error()));
  return true;
}

bool Selector::find_places(const colltopo_callbacks& callbacks) {
  options_ = {};
  bool good = true;
  if (callbacks.locality != nullptr) {
    good = callbacks.locality(callbacks.context, COLLTOPO_NODE, node_of_.data()) == 0;
    number_from_0(node_of_);
  }
  if (settings_.group.size > 0)
    options_.values.set("group", settings_.group.size);
  else
    options_.groups = grouped(node_of_);
  return good;
}

Placement Selector::fit_topology() {
  const RankPlaces& places = filed_.places();
  const std::vector<NodeId> hosts = hosts_of(places);
  Placement placement = placement_on(hosts.empty() ? nullptr : machine_network(settings_.topology), node_of_, hosts,
                                     settings_.dimensions);
  node_of_ = placement.node_of;
  if (settings_.group.size == 0 && settings_.group.level == COLLTOPO_NODE) options_.groups = grouped(node_of_);
  const int nodes = placement.nodes();
  const std::vector<int>& sides = placement.dimensions;
  if (sides.empty() && !settings_.dimensions.empty())
    // A communicator on part of the machine has no such shape; its own nodes count as a crossbar.
    voice_.say_once(1, fmt::format("topology {} is {} nodes, this communicator has {}; taken as a crossbar",
                                   settings_.topology, fmt::join(settings_.dimensions, "x"), nodes));
  // With one rank per node the ranks form the torus themselves.
  if (nodes != ranks_) return placement;
  if (places.empty() || places.in_order)
    options_.dimensions = sides;
  else if (!sides.empty())
    voice_.say_once(1, fmt::format("ranks are not in the order of the hosts of {}; closed forms take them as a ring",
                                   settings_.topology));
  return placement;
}

std::string Selector::stamp() const {
  std::string stamp;
  if (const std::size_t end = end_of_file_name(settings_.topology); end > 0)
    stamp += stamp_of_file(settings_.topology.substr(0, end));
  if (!settings_.rules.empty()) stamp += stamp_of_file(settings_.rules);
  if (!filed_.looks()) return stamp;
  std::istringstream folders(filed_.folders());
  for (std::string folder; std::getline(folders, folder, ':');)
    if (!folder.empty()) stamp += stamp_of_folder(folder);
  return stamp;
}

}  // namespace colltopo
