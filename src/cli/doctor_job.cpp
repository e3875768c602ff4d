// Of `colltopo doctor`: what a job started here would be told, examined by what the component itself reads it with.
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/lines.h"
#include "base/read_file.h"
#include "cli/doctor.h"
#include "colltopo/error.h"
#include "colltopo/placement.h"
#include "colltopo/topology.h"
#include "comm/machine_network.h"
#include "comm/rules.h"
#include "comm/schedule_folders.h"
#include "comm/settings.h"
#include "transport/lane_library.h"
#include "transport/lane_setting.h"

extern char** environ;

namespace colltopo::cli {

namespace {

constexpr std::string_view k_of_component = "coll_topo_", k_of_environment = "OMPI_MCA_coll_topo_";

bool is_setting(std::string_view name) {
  return name == "priority" ||  // Open MPI's own
         std::ranges::any_of(setting_table(),
                             [&](const colltopo_setting& row) { return row.name != nullptr && name == row.name; });
}

std::string value_of(const Job& job, const std::string& name) {
  const auto found = job.settings.find(name);
  return found == job.settings.end() ? "" : found->second;
}

// Those that are taken, said in one line; a fault for each that is not.
void examine_settings(const Job& job, Findings& findings) {
  std::vector<std::string> taken;
  for (const auto& [name, value] : job.settings) {
    if (!is_setting(name)) {
      findings.fault("settings",
                     fmt::format("there is no parameter coll_topo_{}, which is set to {}", name, in_quotes(value)),
                     "ompi_info --param coll topo --level 9 lists them; unset this one");
      continue;
    }
    if (name == "priority" || name == "topology" || name == "hosts") continue;
    try {
      Settings().set(name, value);
      taken.push_back(fmt::format("{}={}", name, value));
    } catch (const std::exception& fault) {
      findings.fault("settings", fault.what(), fmt::format("correct or unset coll_topo_{}", name));
    }
  }
  findings.good("settings", taken.empty() ? "as by default" : fmt::format("{}", fmt::join(taken, " ")));
}

// [rank] name of its host: ranks are dealt to hosts in blocks.
std::vector<std::string> host_names_of_ranks(const Job& job, const Topology& network) {
  std::vector<std::string> hosts = job.hosts;
  if (hosts.empty())
    for (NodeId host = 0; host < network.hosts(); ++host) hosts.push_back(network.node_name(host));
  const std::size_t ranks = job.ranks > 0 ? static_cast<std::size_t>(job.ranks) : hosts.size();
  const std::size_t on_each = (ranks + hosts.size() - 1) / hosts.size();
  std::vector<std::string> names;
  for (std::size_t rank = 0; rank < ranks; ++rank) names.push_back(hosts[rank / on_each]);
  return names;
}

struct Place {
  std::shared_ptr<const Topology> network;
  std::vector<int> ranks_on;  // [host]
  int ranks = 0;
};

// Nothing, with a fault, where the topology cannot be read or is not that of these hosts.
std::optional<Place> examine_topology(const Job& job, Findings& findings) {
  const std::string text = value_of(job, "topology");
  if (text.empty()) {
    findings.good("topology", "none is set: the network counts as a crossbar, and no schedules are looked for");
    return std::nullopt;
  }
  Place place;
  std::vector<std::string> listed;
  try {
    place.network = machine_network(text);
    if (const std::string hosts = value_of(job, "hosts"); !hosts.empty()) listed = listed_hosts(hosts);
  } catch (const std::exception& fault) {
    findings.fault("topology", fault.what(),
                   "correct coll_topo_topology or coll_topo_hosts; colltopo topology FILE tries a file");
    return std::nullopt;
  }
  const std::vector<std::string> names = host_names_of_ranks(job, *place.network);
  std::string why;
  const auto hosts =
      hosts_of_ranks(*place.network, job.hosts.empty() ? std::span<const std::string>() : listed, names, &why);
  if (!hosts) {
    findings.fault(
        "topology", why,
        "set coll_topo_topology to this cluster's file, or coll_topo_hosts to the names of its hosts in order");
    return std::nullopt;
  }
  place.ranks = static_cast<int>(names.size());
  place.ranks_on.assign(static_cast<std::size_t>(place.network->hosts()), 0);
  for (const NodeId host : *hosts) ++place.ranks_on[static_cast<std::size_t>(host)];
  findings.good("topology",
                fmt::format("{}: {} hosts, {} links, fingerprint {}; {}", text, place.network->hosts(),
                            place.network->links().size(), fingerprint(*place.network),
                            job.hosts.empty() ? "no allocation to compare it with"
                                              : fmt::format("knows all {} hosts of the allocation", job.hosts.size())));
  return place;
}

void examine_schedules(const Job& job, const std::optional<Place>& place, Findings& findings) {
  const std::string folders = value_of(job, "schedules");
  if (folders.empty()) return;
  if (!place) {
    if (value_of(job, "topology").empty())
      findings.fault("schedules", "schedules are set and no topology, by which they would be found",
                     "set coll_topo_topology too");
    return;
  }
  const std::string wanted = fingerprint(with_ranks(*place->network, place->ranks_on));
  std::vector<std::string> faults, found;
  for (std::size_t c = 0; c < k_collectives; ++c) {
    std::vector<std::string> seen;
    const auto collective = static_cast<Collective>(c);
    const std::string path = colltopo::schedule_in(folders, {collective, place->ranks, 0, wanted}, &seen);
    if (!path.empty()) found.push_back(fmt::format("{} {}", name(collective), path));
    if (faults.empty()) faults = seen;
  }
  for (const std::string& fault : faults)
    findings.fault("schedules", fault,
                   "make the file again with colltopo generate, or take it out of coll_topo_schedules");
  const std::string on = with_ranks_text(value_of(job, "topology"), place->ranks_on);
  if (!found.empty())
    findings.good("schedules", fmt::format("for {} ranks here: {}", place->ranks, fmt::join(found, ", ")));
  else if (faults.empty())
    findings.fault("schedules",
                   fmt::format("none in {} is for {} ranks on {} (fingerprint {})", folders, place->ranks, on, wanted),
                   fmt::format("colltopo generate mcf {} -o {}/alltoall-{}.sched", on,
                               folders.substr(0, folders.find(':')), wanted));
}

void examine_rules(const Job& job, Findings& findings) {
  const std::string path = value_of(job, "rules");
  if (path.empty()) return;
  try {
    findings.good("rules", fmt::format("{}: {} rules", path, Rules::read(path).all().size()));
  } catch (const std::exception& fault) {
    findings.fault("rules", fault.what(), "correct the file (docs/rules.md), or unset coll_topo_rules");
  }
}

rlim_t limit(decltype(RLIMIT_NOFILE) what) {
  struct rlimit limits {};
  return getrlimit(what, &limits) == 0 ? limits.rlim_cur : RLIM_INFINITY;
}

void examine_transport(const Job& job, int ranks, Findings& findings) {
  if (value_of(job, "transport") != "ucx") {
    findings.good("transport", "pml: messages of Open MPI");
    return;
  }
  std::string why;
  if (lane_library(&why) == nullptr) {
    findings.fault("transport", why, "install libcolltopo_ucx.so beside the component, or unset coll_topo_transport");
    return;
  }
  const LaneSetting lanes = [&] {
    try {
      return lane_setting(value_of(job, "lanes"));
    } catch (const std::exception&) {
      return LaneSetting{};  // said with the settings
    }
  }();
  std::error_code none;
  if (lanes.kind == LaneKind::device)
    for (const std::string& device : lanes.values) {
      const std::string name = device.substr(0, device.find(':'));
      if (!std::filesystem::exists("/sys/class/net/" + name, none) &&
          !std::filesystem::exists("/sys/class/infiniband/" + name, none))
        findings.fault("lanes",
                       fmt::format("lanes {}: there is no device {} on this host", in_quotes(lanes.text), name),
                       "name devices that `ip link` or `ucx_info -d` lists");
    }
  // A connection to each peer and lane from either end, and what a process has open besides.
  const rlim_t needed = 64 + 2 * static_cast<rlim_t>(lanes.lanes()) * static_cast<rlim_t>(std::max(ranks, 1));
  if (const rlim_t files = limit(RLIMIT_NOFILE); files < needed)
    findings.fault(
        "limits",
        fmt::format("{} open files are allowed; {} lanes to {} ranks take up to {}", files, lanes.lanes(), ranks,
                    needed),
        fmt::format("ulimit -n {} where the job starts (limits.conf, or LimitNOFILE of the batch system's daemon)",
                    needed));
  findings.good("transport", fmt::format("ucx, {} lanes", lanes.lanes()));
}

void examine_limits(Findings& findings) {
  std::error_code none;
  const bool fabric = std::filesystem::is_directory("/sys/class/infiniband", none) &&
                      !std::filesystem::is_empty("/sys/class/infiniband", none);
  if (const rlim_t locked = limit(RLIMIT_MEMLOCK); fabric && locked != RLIM_INFINITY)
    findings.fault(
        "limits", fmt::format("{} bytes of memory may be locked, and InfiniBand locks what it sends", locked),
        "ulimit -l unlimited where the job starts (limits.conf, or LimitMEMLOCK of the batch system's daemon)");
  struct statvfs shared {};
  constexpr unsigned long long k_least = 64 << 20;
  if (statvfs("/dev/shm", &shared) == 0 && static_cast<unsigned long long>(shared.f_bavail) * shared.f_frsize < k_least)
    findings.fault("limits",
                   fmt::format("/dev/shm has {} MiB left, by which ranks of a host exchange messages",
                               static_cast<unsigned long long>(shared.f_bavail) * shared.f_frsize >> 20),
                   "free it, or mount it larger (a container: --shm-size)");
  findings.good("limits", fmt::format("{} open files", limit(RLIMIT_NOFILE)));
}

// "n[1-3,07]" is n1 n2 n3 n07.
void expand(const std::string& word, const std::string& list, std::vector<std::string>& names) {
  const std::size_t open = word.find('['), close = word.find(']');
  if (open == std::string::npos && close == std::string::npos) {
    constexpr std::size_t k_most = 1 << 18;  // brackets multiply
    if (names.size() == k_most) throw Error(fmt::format("host list {}: more than {} names", in_quotes(list), k_most));
    names.push_back(word);
    return;
  }
  if (open == std::string::npos || close == std::string::npos || close < open)
    throw Error(fmt::format("host list {}: brackets do not match", in_quotes(list)));
  const auto fault = [&](const std::string& range) {
    return Error(fmt::format("host list {}: {} is no range", in_quotes(list), in_quotes(range)));
  };
  std::istringstream ranges(word.substr(open + 1, close - open - 1));
  for (std::string range; std::getline(ranges, range, ',');) {
    const std::size_t dash = range.find('-');
    const std::string first = range.substr(0, dash), last = dash == std::string::npos ? first : range.substr(dash + 1);
    const auto is_number = [](const std::string& text) {
      return !text.empty() && text.size() < 9 && text.find_first_not_of("0123456789") == std::string::npos;
    };
    if (!is_number(first) || !is_number(last) || std::stoi(last) < std::stoi(first) ||
        std::stoi(last) - std::stoi(first) > 1 << 20)
      throw fault(range);
    for (int number = std::stoi(first); number <= std::stoi(last); ++number)
      expand(fmt::format("{}{:0{}}{}", word.substr(0, open), number, first.size(), word.substr(close + 1)), list,
             names);
  }
}

}  // namespace

JobSettings settings_of_job(const OpenMpi& open_mpi) {
  JobSettings settings;
  // Open MPI knows parameters of components that it loads; a misspelt one stands in the environment alone.
  for (const colltopo_setting& row : setting_table())
    if (row.name != nullptr) {
      const auto found = open_mpi.parameters.find(std::string(k_of_component) + row.name);
      if (found != open_mpi.parameters.end() && found->second != row.default_value) settings[row.name] = found->second;
    }
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (!text.starts_with(k_of_environment) || equals == std::string_view::npos) continue;
    settings[std::string(text.substr(k_of_environment.size(), equals - k_of_environment.size()))] =
        text.substr(equals + 1);
  }
  settings.erase("priority");
  return settings;
}

std::vector<std::string> expanded_host_list(const std::string& list) {
  std::vector<std::string> names;
  std::string word;
  int depth = 0;
  for (const char letter : list + ",") {
    depth += letter == '[' ? 1 : letter == ']' ? -1 : 0;
    if (letter != ',' || depth > 0) {
      word += letter;
      continue;
    }
    if (!word.empty()) expand(word, list, names);
    word.clear();
  }
  if (depth != 0) throw Error(fmt::format("host list {}: brackets do not match", in_quotes(list)));
  return names;
}

std::vector<std::string> hosts_of_allocation() {
  std::vector<std::string> names;
  std::set<std::string> known;
  const auto add = [&](const std::string& name) {
    if (known.insert(name).second) names.push_back(name);
  };
  if (const char* list = std::getenv("SLURM_JOB_NODELIST"); list != nullptr) {
    for (const std::string& name : expanded_host_list(list)) add(name);
  } else if (const char* file = std::getenv("PBS_NODEFILE"); file != nullptr) {
    std::istringstream in(read_file(file, k_hosts_file));
    for (std::string name; in >> name;) add(name);
  } else if (const char* hosts = std::getenv("LSB_HOSTS"); hosts != nullptr) {
    std::istringstream in(hosts);
    for (std::string name; in >> name;) add(name);
  }
  return names;
}

void examine_job(const Job& job, Findings& findings) {
  examine_settings(job, findings);
  const std::optional<Place> place = examine_topology(job, findings);
  examine_schedules(job, place, findings);
  examine_rules(job, findings);
  const int ranks = place ? place->ranks : job.ranks > 0 ? job.ranks : static_cast<int>(job.hosts.size());
  examine_transport(job, ranks, findings);
  examine_limits(findings);
}

}  // namespace colltopo::cli
