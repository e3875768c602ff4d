// Routes as what a network is told: forwarding tables by plane and destination, and the few routes that no plane has
// room for (Basu et al., section 4: how chunks get onto the paths that a schedule names).
#pragma once

#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "colltopo/planes.h"
#include "colltopo/schedule.h"

namespace colltopo {

/// A schedule whose lane numbers are the planes of its routes: a sender that has an address of every host per plane
/// needs to know nothing else. Routes of a pair that are the same become one. Without routes: unchanged.
Schedule with_planes_as_lanes(Schedule schedule, const Topology& topology);

/// The same for schedules that a network is to carry side by side, with one set of tables: a route that several of them
/// have is in one plane.
std::vector<Schedule> with_shared_planes(std::vector<Schedule> schedules, const Topology& topology);
/// The routes of such schedules together, without programs: what forwarding_tables() takes.
Schedule routes_of_all(std::span<const Schedule> schedules);

/// One more than the largest lane.
std::int32_t planes_in(const std::vector<Route>& routes);

/// A hop of one route, taken by what goes from `source` to `target` in plane `lane` and by nothing else.
struct ForwardingException {
  Rank source = 0, target = 0;
  Lane lane = 0;
  NodeId node = 0;
  LinkId link = -1;

  friend bool operator==(const ForwardingException&, const ForwardingException&) = default;
};

/// For each plane and node, the link towards every host.
class ForwardingTables {
 public:
  ForwardingTables(NodeId nodes, NodeId hosts, std::int32_t planes);

  NodeId nodes() const { return nodes_; }
  NodeId hosts() const { return hosts_; }
  std::int32_t planes() const { return planes_; }
  /// -1: none.
  LinkId link(std::int32_t plane, NodeId node, NodeId target) const { return links_[at(plane, node, target)]; }
  void set(std::int32_t plane, NodeId node, NodeId target, LinkId link) { links_[at(plane, node, target)] = link; }
  std::size_t entries() const;

  std::vector<ForwardingException> exceptions;  // sorted by node, source, target, lane

 private:
  std::size_t at(std::int32_t plane, NodeId node, NodeId target) const {
    return (static_cast<std::size_t>(plane) * static_cast<std::size_t>(nodes_) + static_cast<std::size_t>(node)) *
               static_cast<std::size_t>(hosts_) +
           static_cast<std::size_t>(target);
  }
  NodeId nodes_, hosts_;
  std::int32_t planes_;
  std::vector<LinkId> links_;
};

/// Tables that realise every route of the schedule, lane k in plane k; routes that disagree with others of their lane
/// become exceptions. Where no route says anything, a node sends by the fewest hops to one that knows the way, so every
/// plane reaches every host. Throws Error when the schedule has no routes or is of another topology. Time O(hops of the
/// routes + planes * hosts * links), memory 4 bytes per plane, node and host.
ForwardingTables forwarding_tables(const Schedule& schedule, const Topology& topology);

/// What is wrong with the tables, by following every lane and every plane hop by hop: a lane that leaves its route, a
/// loop, a host that a plane does not reach. Empty: nothing. At most 20 lines.
std::vector<std::string> forwarding_faults(const Schedule& schedule, const Topology& topology,
                                           const ForwardingTables& tables);

/// How Linux hosts name what the tables speak of.
struct LinuxNames {
  std::string device = "l";        // and the link's number: the device into a link, at its tail
  std::string network = "10.100";  // node n in plane p has NETWORK with p added to its last octet, then n in two octets
};

/// A shell script that gives each node, by its name, its routes through `ip`. Throws Error when planes or nodes do not
/// fit into the addresses.
void write_linux_routes(std::ostream& out, const Schedule& schedule, const Topology& topology,
                        const ForwardingTables& tables, const LinuxNames& names);
/// docs/routes.md has the fields.
void write_json_routes(std::ostream& out, const Schedule& schedule, const Topology& topology,
                       const ForwardingTables& tables);
/// Tables from write_json_routes. Throws Error naming the file, the field and what was expected.
ForwardingTables read_json_routes(std::istream& in, const std::string& name_for_errors, const Schedule& schedule,
                                  const Topology& topology);

}  // namespace colltopo
