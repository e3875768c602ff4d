// Ranks on the hosts of a machine: several on one, none on another, in any order.
//
// Schedules are made for a topology whose hosts are the ranks. Where ranks and hosts are not one to one, that topology
// is derived from the machine's: a host with several ranks becomes a switch that they hang on, a host without ranks a
// switch that forwards. Its fingerprint is what a schedule file is found by, so whoever makes a schedule and whoever
// runs it must derive it alike: both call with_ranks().
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "colltopo/schedule.h"
#include "colltopo/topology.h"

namespace colltopo {

/// The topology of the ranks, sorted by host: rank r is its host r. `ranks_on`: [host of the machine] how many. A host
/// with exactly one rank stays what it is; with one on each, the result is the machine itself. The link between a rank
/// and its host is as wide as all links out of that host together, so it is never the narrowest.
/// `name`: of the result; empty: the machine's. Throws Error when there are not as many counts as hosts, a count is
/// negative, or no rank is left.
Topology with_ranks(const Topology& machine, std::span<const int> ranks_on, std::string name = "");

/// "2" for each of `hosts`, or a list such as "2,1,0*6" (six hosts without ranks). Throws Error naming the text.
std::vector<int> ranks_on_hosts(std::string_view text, NodeId hosts);

/// Which rank is where, once ranks have been matched to hosts.
struct RankPlaces {
  std::vector<int> ranks_on;   // [host of the machine]
  std::vector<Rank> rank_at;   // [place] the rank whose place it is; places are ranks sorted by host, then by rank
  std::vector<Rank> place_of;  // [rank]
  bool in_order = true;        // place_of[r] == r

  bool empty() const { return rank_at.empty(); }
};
/// `host_of`: [rank] host of the machine.
RankPlaces places_of(const Topology& machine, std::span<const NodeId> host_of);

/// The host of a name: equal to it, or equal up to the first dot of either ("node7" and "node7.cluster"). -1: none.
class HostNames {
 public:
  explicit HostNames(std::span<const std::string> names);
  NodeId host(std::string_view name) const;

 private:
  std::vector<std::pair<std::string, NodeId>> whole_, short_;  // sorted by name
};

}  // namespace colltopo
