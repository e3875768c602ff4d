// Schedules out of the folders that the setting `schedules` names, for one communicator: by the fingerprint of its
// ranks on the machine's network.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "colltopo/colltopo.h"
#include "colltopo/placement.h"
#include "comm/agreement.h"
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

  /// What rank 0 should say, if anything: each thing once.
  struct Remark {
    int level = 1;
    std::string line;
  };
  /// The file for a collective with a root (a rank); "" when there is none. Collective: rank 0 looks and tells.
  const std::string& path(Collective collective, Rank root, const Agreement& agreement, std::vector<Remark>* remarks);
  /// A file that turned out to be of no use: not asked for again.
  void forget(Collective collective, Rank root) { paths_[{collective, root}].clear(); }

 private:
  std::string look(Collective collective, Rank root, std::vector<Remark>* remarks) const;

  std::string folders_, topology_;
  Rank rank_ = 0, ranks_ = 0;
  std::shared_ptr<const Topology> network_;
  RankPlaces places_;
  std::string hindrance_;    // why the ranks have no places
  std::string fingerprint_;  // of the ranks on the network
  std::map<std::pair<Collective, Rank>, std::string> paths_;
};

}  // namespace colltopo
