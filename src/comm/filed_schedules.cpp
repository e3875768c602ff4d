// Placing the ranks of a communicator and finding their schedules.
#include "comm/filed_schedules.h"

#include <algorithm>

#include <fmt/format.h>

#include "comm/machine_network.h"
#include "comm/schedule_folders.h"

namespace colltopo {

namespace {

constexpr std::size_t k_name_bytes = 256;  // of a host's name, its end included

std::vector<std::string> host_names(Rank ranks, const colltopo_callbacks& callbacks) {
  if (callbacks.host_names == nullptr) return {};
  std::vector<char> bytes(static_cast<std::size_t>(ranks) * k_name_bytes, '\0');
  if (callbacks.host_names(callbacks.context, k_name_bytes, bytes.data()) != 0) return {};
  std::vector<std::string> names;
  for (std::size_t at = 0; at < bytes.size(); at += k_name_bytes) {
    bytes[at + k_name_bytes - 1] = '\0';
    names.emplace_back(&bytes[at]);
  }
  return names;
}

}  // namespace

void FiledSchedules::place(const Settings& settings, Rank rank, Rank ranks, const colltopo_callbacks& callbacks) {
  folders_ = settings.schedules;
  topology_ = settings.topology;
  rank_ = rank;
  ranks_ = ranks;
  if (topology_.empty()) {
    hindrance_ = "schedules are found by the parameter topology, which is not set";
    return;
  }
  network_ = machine_network(topology_);
  const std::vector<std::string> names = host_names(ranks, callbacks);
  if (names.empty()) {
    hindrance_ = "the names of hosts are not known";
    return;
  }
  const auto host_of = hosts_of_ranks(*network_, settings.hosts, names, &hindrance_);
  if (!host_of) return;
  places_ = places_of(*network_, *host_of);
  if (!folders_.empty()) fingerprint_ = fingerprint(with_ranks(*network_, places_.ranks_on));
}

std::string FiledSchedules::placement_text() const {
  std::string text = hindrance_ + fingerprint_;
  for (const Rank rank : places_.rank_at) text += fmt::format(" {}", rank);
  return text;
}

std::string FiledSchedules::look(Collective collective, Rank root, std::vector<Remark>* remarks) const {
  if (places_.empty()) {
    remarks->push_back({0, fmt::format("{}; no schedules of folder {} are used", hindrance_, folders_)});
    return "";
  }
  const Rank place = rooted(collective) ? places_.place_of[static_cast<std::size_t>(root)] : 0;
  std::vector<std::string> faults;
  std::string path = schedule_in(folders_, {collective, ranks_, place, fingerprint_}, &faults);
  for (std::string& fault : faults) remarks->push_back({0, std::move(fault)});
  if (!path.empty()) return path;
  // A communicator of the whole machine is what people make schedules for.
  const bool whole = std::ranges::all_of(places_.ranks_on, [](int count) { return count > 0; });
  const std::string on = with_ranks_text(topology_, places_.ranks_on);
  const std::string folder = folders_.substr(0, folders_.find(':'));
  std::string line = fmt::format("{}: no schedule for {} ranks on {} (fingerprint {}) in {}", name(collective), ranks_,
                                 on, fingerprint_, folders_);
  if (collective == Collective::alltoall)
    line += fmt::format("; to make one: colltopo generate mcf {} -o {}/alltoall-{}.sched", on, folder, fingerprint_);
  remarks->push_back({whole && collective == Collective::alltoall ? 0 : 1, line + "; the model decides"});
  return "";
}

const std::string& FiledSchedules::path(Collective collective, Rank root, const Agreement& agreement,
                                        std::vector<Remark>* remarks) {
  const auto key = std::pair{collective, rooted(collective) ? root : 0};
  const auto found = paths_.find(key);
  if (found != paths_.end()) return found->second;
  return paths_[key] = agreement.text_of_rank_0(rank_ == 0 ? look(collective, root, remarks) : "");
}

}  // namespace colltopo
