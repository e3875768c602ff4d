// Placing the ranks of a communicator and finding their schedules.
#include "comm/filed_schedules.h"

#include <algorithm>
#include <mutex>
#include <set>

#include <fmt/format.h>

#include "comm/machine_network.h"

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

// Said once by a process, however many communicators and collectives look.
bool is_new(const std::string& line) {
  static auto* const mutex = new std::mutex;
  static auto* const said = new std::set<std::string>;
  const std::lock_guard lock(*mutex);
  return said->insert(line).second;
}

}  // namespace

void FiledSchedules::place(const Settings& settings, Rank rank, Rank ranks, const colltopo_callbacks& callbacks) {
  asked_ = settings.schedules;
  from_bytes_ = settings.schedules_from_bytes;
  lanes_ = settings.own_lanes && settings.lanes.kind != LaneKind::shared ? settings.lanes.lanes() : 0;
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
}

const std::string& FiledSchedules::fingerprint() {
  if (fingerprint_.empty() && !places_.empty())
    fingerprint_ = colltopo::fingerprint(with_ranks(*network_, places_.ranks_on));
  return fingerprint_;
}

std::string FiledSchedules::placement_text() const {
  std::string text = hindrance_;
  for (const Rank rank : places_.rank_at) text += fmt::format(" {}", rank);
  return text;
}

std::vector<FolderChoice> FiledSchedules::look(Collective collective, std::vector<Remark>* remarks) {
  const std::string folders = this->folders();
  if (folders.empty()) return {};
  const int level = asked_.empty() ? 1 : 0;  // who asked for nothing misses nothing
  if (places_.empty()) {
    remarks->push_back({level, fmt::format("{}; no schedules of folder {} are used", hindrance_, folders)});
    return {};
  }
  RuleQuery query;
  query.collective = collective;
  query.ranks = ranks_;
  query.one_per_node = std::ranges::all_of(places_.ranks_on, [](int count) { return count <= 1; });
  query.single_node = std::ranges::count_if(places_.ranks_on, [](int count) { return count > 0; }) == 1;
  query.topology = topology_;
  query.fingerprint = fingerprint();
  query.lanes = lanes_;
  std::vector<std::string> faults;
  std::vector<std::string> distrusted;
  std::vector<FolderChoice> choices =
      choices_in(folders, query, from_bytes_, &faults, asked_.empty() ? &distrusted : nullptr);
  for (std::string& line : distrusted)
    if (is_new(line)) remarks->push_back({0, line + "; the model decides"});
  for (std::string& fault : faults) remarks->push_back({level, std::move(fault)});
  if (!choices.empty()) return choices;
  // A communicator of the whole machine is what people make schedules for.
  const bool whole = std::ranges::all_of(places_.ranks_on, [](int count) { return count > 0; });
  const std::string on = with_ranks_text(topology_, places_.ranks_on);
  const std::string folder = folders.substr(0, folders.find(':'));
  std::string line = fmt::format("{}: no schedule for {} ranks on {} (fingerprint {}) in {}", name(collective), ranks_,
                                 on, query.fingerprint, folders);
  if (collective == Collective::alltoall)
    line +=
        fmt::format("; to make one: colltopo generate mcf {} -o {}/alltoall-{}.sched", on, folder, query.fingerprint);
  remarks->push_back({whole && collective == Collective::alltoall ? level : 1, line + "; the model decides"});
  return {};
}

FiledSchedules::Found FiledSchedules::find(const Request& request, const Agreement& agreement,
                                           std::vector<Remark>* remarks) {
  const auto known = choices_.find(request.collective);
  const std::vector<FolderChoice>& choices =
      known != choices_.end() ? known->second
                              : choices_[request.collective] = folder_choices_of(agreement.text_of_rank_0(
                                    rank_ == 0 ? text_of(look(request.collective, remarks)) : ""));
  const Rank place =
      rooted(request.collective) && !places_.empty() ? places_.place_of[static_cast<std::size_t>(request.root)] : -1;
  Found found;
  for (const FolderChoice& one : choices) {
    found.any_root = found.any_root && one.root < 0;
    if (one.root >= 0 && one.root != place) continue;
    // The answer stays between the ends of all that could have given it.
    const std::size_t behind = one.most == k_any_bytes ? k_any_bytes : one.most + 1;
    for (const std::size_t end : {one.least, behind}) {
      if (end <= request.bytes) found.from = std::max(found.from, end);
      if (end > request.bytes) found.to = std::min(found.to, end);
    }
    const bool serves = one.least <= request.bytes && request.bytes <= one.most;
    if (found.choice.empty() && serves) found.choice = one.choice;
  }
  return found;
}

void FiledSchedules::forget(Collective collective, const std::string& choice) {
  std::erase_if(choices_[collective], [&](const FolderChoice& one) { return one.choice == choice; });
}

}  // namespace colltopo
