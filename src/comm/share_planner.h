// What rank 0 does for traffic that keeps coming: better shares for the routes of the schedule that serves it.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string>

#include "colltopo/placement.h"
#include "colltopo/route_shares.h"
#include "colltopo/schedule.h"
#include "colltopo/topology.h"
#include "comm/agreement.h"
#include "comm/schedule_files.h"

namespace colltopo {

/// What a plan comes to, in seconds that the busiest link takes for the traffic.
struct SharePlan {
  RouteShares shares;         // by rank; of no ranks: those in force are as good
  double before_s = 0;        // with the shares in force
  double after_s = 0;         // with the new ones
  double least_routes_s = 0;  // no shares of these routes take less
  double least_s = 0;         // nor do any routes
};

/// Of one schedule file and the places of its ranks.
class SharePlanner {
 public:
  /// Reads nothing yet. `network`: the machine's. `lanes`: those from 0 that take routes of their own; 0: all do.
  SharePlanner(std::string path, std::shared_ptr<const Topology> network, RankPlaces places, Lane lanes)
      : path_(std::move(path)), network_(std::move(network)), places_(std::move(places)), lanes_(lanes) {}

  /// `bytes`: [source rank][target rank], one row after the other. Ends early with an Error once `ends` is true. Throws
  /// Error for a file that is not of these ranks on this network, or has no routes. What it plans is in force from then
  /// on.
  SharePlan plan(std::span<const std::uint64_t> bytes, const std::atomic<bool>& ends);

 private:
  void read();

  std::string path_;
  std::shared_ptr<const Topology> network_;
  RankPlaces places_;
  Lane lanes_;
  Topology topology_;  // of the ranks, by place
  Schedule schedule_;  // as read
  Routing routes_;     // all of them
  Routing in_force_;   // with the shares in force
};

/// What rank 0 tells the others of its plan; of one that could not be made, "".
std::string text_of(const SharePlan& plan);

/// What the ranks make of rank 0's text.
struct AgreedShares {
  /// What serves with the new shares in place of the original's; null: those in force are kept.
  std::shared_ptr<const LoadedProgram> file;
  bool failed = false;  // of any rank
};
/// Collective. `fault`: why this rank has no plan, "" where it knows of nothing; afterwards, on the rank that is to say
/// so, why there are no new shares.
AgreedShares agreed_shares(const Agreement& agreement, const LoadedProgram& original, const std::string& text,
                           Rank rank, std::string* fault);

/// "new shares take 1.2 ms of the busiest link per call, ..."
std::string to_say(const SharePlan& plan, long long calls);

}  // namespace colltopo
