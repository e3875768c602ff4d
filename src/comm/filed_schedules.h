// Schedules out of the folders that the setting `schedules` names, for one communicator: by the fingerprint of its
// ranks on the machine's network.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "colltopo/choice.h"
#include "colltopo/colltopo.h"
#include "colltopo/placement.h"
#include "comm/agreement.h"
#include "comm/folder_choices.h"
#include "comm/settings.h"

namespace colltopo {

class FiledSchedules {
 public:
  /// Where the ranks are on settings.topology. Collective: ranks exchange the names of their hosts. Nothing is placed
  /// without a topology; what hinders otherwise is kept for path().
  void place(const Settings& settings, Rank rank, Rank ranks, const colltopo_callbacks& callbacks);

  /// Empty when the ranks could not be placed.
  const RankPlaces& places() const { return places_; }
  /// Hosts of the machine's network; 0 without one.
  NodeId hosts() const { return network_ == nullptr ? 0 : network_->hosts(); }
  /// What place() found, for ranks to compare.
  std::string placement_text() const;

  /// The folders that are asked, "a:b".
  std::string folders() const { return asked_.empty() ? standard_folders(topology_) : asked_; }
  /// Whether folders are asked at all: the same on all ranks.
  bool looks() const { return asked_ != "none" && (!asked_.empty() || !topology_.empty()); }
  /// Of the ranks on the network; empty when they could not be placed.
  const std::string& fingerprint();
  /// Endpoints of our own, each with a route of its own.
  Lane lanes() const { return lanes_; }

  /// What rank 0 should say, if anything: each thing once.
  struct Remark {
    int level = 1;
    std::string line;
  };
  /// Who serves a call by the folders, and the sizes for which the answer stays.
  struct Found {
    std::string choice;  // as in a rules file; empty: they do not say
    std::size_t from = 0, to = k_any_bytes;
    bool any_root = true;
  };
  /// Collective at a collective's first call: rank 0 looks and tells.
  Found find(const Request& request, const Agreement& agreement, std::vector<Remark>* remarks);
  /// A file that turned out to be of no use: not asked for again.
  void forget(Collective collective, const std::string& choice);

 private:
  std::vector<FolderChoice> look(Collective collective, std::vector<Remark>* remarks);

  std::string asked_, topology_;  // the settings
  std::size_t from_bytes_ = 0;
  Lane lanes_ = 0;
  Rank rank_ = 0, ranks_ = 0;
  std::shared_ptr<const Topology> network_;
  RankPlaces places_;
  std::string hindrance_;  // why the ranks have no places
  std::string fingerprint_;
  std::map<Collective, std::vector<FolderChoice>> choices_;
};

}  // namespace colltopo
