// A network: hosts and switches joined by directed links.
//
// A cable is two links, one per direction; parallel links are allowed. Everything that is said about links by somebody
// else (loads, flows, which are cut) lives outside, in vectors indexed by LinkId.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace colltopo {

using NodeId = std::int32_t;  // hosts are 0..hosts()-1, switches follow
using LinkId = std::int32_t;  // by the order in which links were added

struct Link {
  NodeId tail = 0;       // where data enters
  NodeId head = 0;       // where it comes out
  double bandwidth = 0;  // bytes per second
  double latency = 0;    // seconds

  friend bool operator==(const Link&, const Link&) = default;
};

/// Which of equally short paths a network takes for what nobody steers.
enum class SinglePaths : std::uint8_t {
  unknown,  // ShortestPaths then assumes even ones where it can
  lowest,   // each node the first of its links that come nearer to the target
  hashed,   // each node one of those by a hash of node and target, as routers with equal-cost paths do
};

/// "lowest" and "hash"; nothing for other words.
std::optional<SinglePaths> single_paths_named(std::string_view text);
std::string_view name(SinglePaths paths);  // "" of unknown ones

/// Links of a topology that does not say: 25 Gb/s (the testbed of Basu et al., section 5) and one microsecond.
inline constexpr double k_default_bandwidth = 25e9 / 8;
inline constexpr double k_default_latency = 1e-6;

/// Made by TopologyBuilder alone.
class Topology {
 public:
  /// The spec string or the name in the file: for people.
  const std::string& name() const { return name_; }

  NodeId hosts() const { return hosts_; }
  NodeId switches() const { return nodes() - hosts_; }
  NodeId nodes() const { return static_cast<NodeId>(node_names_.size()); }
  bool is_host(NodeId node) const { return node < hosts_; }
  /// "12" and "s3" where the file gives no other name.
  const std::string& node_name(NodeId node) const { return node_names_[static_cast<std::size_t>(node)]; }

  std::span<const Link> links() const { return links_; }
  const Link& link(LinkId link) const { return links_[static_cast<std::size_t>(link)]; }
  /// Bytes per second of the slowest link, the unit of capacities and of loads in shards; 0 without links.
  double slowest_bandwidth() const { return slowest_bandwidth_; }
  /// In increasing order.
  std::span<const LinkId> links_out(NodeId node) const;
  std::span<const LinkId> links_in(NodeId node) const;
  /// "a -> b" by the names of its ends.
  std::string link_name(LinkId link) const;

  /// Sides when the hosts are the points of a grid in row-major order (the last side varies fastest): ring, mesh,
  /// torus, hypercube (all sides 2). Empty for others. The links are those between grid neighbours and no others.
  const std::vector<int>& sides() const { return sides_; }
  /// Whether the first and last point of every side are neighbours: a torus, not a mesh.
  bool wraps() const { return wraps_; }
  /// Sides of the grid along which the hosts are numbered, row by row, whatever their links: those of sides(), and of
  /// HyperX, HammingMesh and grids that lost links. For pictures. Empty for others.
  const std::vector<int>& arrangement() const { return arrangement_; }

  SinglePaths single_paths() const { return single_paths_; }

 private:
  friend class TopologyBuilder;
  std::string name_;
  NodeId hosts_ = 0;
  std::vector<std::string> node_names_;
  std::vector<Link> links_;
  double slowest_bandwidth_ = 0;
  std::vector<int> sides_;
  bool wraps_ = false;
  std::vector<int> arrangement_;
  SinglePaths single_paths_ = SinglePaths::unknown;
  std::vector<LinkId> out_, in_;                         // link numbers grouped by tail, by head
  std::vector<std::size_t> first_out_{0}, first_in_{0};  // node -> where its group begins
};

/// The only way to make a Topology. Faults (a link to a node that is not there or to itself, bandwidth not positive,
/// sides that are not the number of hosts) throw Error naming the topology, the fault and what is allowed.
class TopologyBuilder {
 public:
  TopologyBuilder(std::string name, std::int64_t hosts, std::int64_t switches = 0);

  TopologyBuilder& name_node(NodeId node, std::string name);
  TopologyBuilder& link(NodeId tail, NodeId head, double bandwidth = k_default_bandwidth,
                        double latency = k_default_latency);
  /// Both directions: tail to head first.
  TopologyBuilder& cable(NodeId a, NodeId b);
  TopologyBuilder& grid(std::vector<int> sides, bool wraps);
  /// As Topology::arrangement() says; grid() does it too.
  TopologyBuilder& arrange(std::vector<int> sides);
  TopologyBuilder& route(SinglePaths paths);

  Topology build() &&;

 private:
  Topology topology_;
};

/// From a spec string such as "torus:3x3x3/bandwidth:100Gbps": a family with its parameters, then modifiers. Throws
/// Error naming the spec, the fault and what is allowed.
Topology topology_of(std::string_view spec);
/// The topology with the modifiers of a spec, "ranks:2/drop-links:1"; `text`: the whole argument, which becomes its
/// name.
Topology modified(Topology topology, std::string_view modifiers, const std::string& text);
/// Where a file's path ends in "net.json/ranks:2": before the first / that follows the name of a file. The whole length
/// where a file has that name, 0 where no part is a file.
std::size_t end_of_file_name(const std::string& argument);
/// The spec strings that topology_of knows, one line each: for help texts.
std::string topology_specs();

/// A broken network: without all links between the nodes of each cable, "A-B" by their names, in both directions. What
/// remains keeps its order; grids lose their sides. Throws Error when a name is unknown, when two nodes have no link,
/// and when hosts are cut off, as expect_connected() does.
Topology without_links(const Topology& topology, std::span<const std::string> cables);
/// Likewise without hosts, by their names; the rest are renumbered in order and keep their names.
Topology without_hosts(const Topology& topology, std::span<const std::string> hosts);

/// "host 3 cannot reach host 0", by their names; empty when every host reaches every other.
std::string unreachable_hosts(const Topology& topology);
/// Throws Error naming two hosts, the first of which cannot reach the second, and all (at most 20) that are outside the
/// largest set of hosts that reach each other.
void expect_connected(const Topology& topology);

/// The native file: JSON (docs/command.md). Errors name the file and the place in it.
Topology read_topology(std::istream& in, const std::string& name_for_errors);
void write_topology(std::ostream& out, const Topology& topology);

/// 25e9/8 from "25Gbps", 3e9 from "3GBps"; seconds from "1us". False when it is neither a number nor a known unit.
bool parse_bandwidth(std::string_view text, double& bytes_per_second);
bool parse_latency(std::string_view text, double& seconds);
std::string bandwidth_text(double bytes_per_second);  // "25 Gb/s"
std::string seconds_text(double seconds);             // "1.5 us"

/// A hash of the graph that is the same on every machine and in every release, "27h0s162l-8f1c2e6a90b3d574": hosts,
/// switches, links in their order and bandwidths relative to the slowest link. Names, latencies and the unit of
/// bandwidth do not count: a schedule serves the same graph at any speed.
std::string fingerprint(const Topology& topology);

/// Hops from `source` to every node along links; -1: unreachable.
std::vector<int> distances_from(const Topology& topology, NodeId source);

/// One shortest path per pair of nodes: what a network does by itself.
///
/// Of unknown paths, on a grid, dimension order (the first side first); a host with an even coordinate breaks a tie of
/// both ways round upwards, an odd one downwards, which loads a torus evenly. Elsewhere the path of a breadth-first
/// search that looks at links in their order. Keeps four bytes for each pair of nodes asked for, but for dimension
/// order.
class ShortestPaths {
 public:
  explicit ShortestPaths(const Topology& topology) : ShortestPaths(topology, topology.single_paths()) {}
  /// Whatever the topology says of its own.
  ShortestPaths(const Topology& topology, SinglePaths paths);
  /// Links in order; empty when source == target. Throws Error when there is no path.
  std::vector<LinkId> path(NodeId source, NodeId target) const;

 private:
  std::vector<LinkId> along_grid(NodeId source, NodeId target) const;
  std::vector<LinkId> by_nodes(NodeId source, NodeId target) const;
  LinkId link_between(NodeId tail, NodeId head) const;
  [[noreturn]] void refuse(NodeId source, NodeId target) const;

  const Topology& topology_;
  SinglePaths paths_;
  // Filled when asked: source -> node -> last link of its path; of known paths, target -> node -> the link it takes.
  mutable std::vector<std::vector<LinkId>> known_;
};

/// A set of nodes and the capacity of the links that leave and enter it.
struct Cut {
  std::vector<bool> inside;  // [node]
  NodeId hosts_inside = 0;
  double bandwidth_out = 0;  // bytes per second
  double bandwidth_in = 0;
};
/// Cuts that tend to be narrow: every host alone (up to 4096), growing balls around hosts and the half of the hosts
/// nearest to them (at most 64 of them, evenly spaced), and on grids the slabs of every side. Only cuts with a host on
/// both sides. Each bounds every collective from below.
std::vector<Cut> narrow_cuts(const Topology& topology);

struct TopologyFacts {
  NodeId hosts = 0, switches = 0;
  LinkId links = 0;
  int smallest_degree = 0, largest_degree = 0;  // links out of a host
  bool regular = false;                         // every host has as many links out and in as every other
  bool connected = false;                       // every host reaches every host
  int diameter = 0;                             // hops between hosts; -1 when not connected
  double average_distance = 0;                  // hops, over ordered pairs of different hosts
  double slowest_link = 0, fastest_link = 0;    // bytes per second
  double bisection =
      0;  // bytes per second over the narrowest cut of narrow_cuts() into equal halves; 0: none was found
};
TopologyFacts facts_of(const Topology& topology);

/// Theorem 1 of Basu et al. (5.4, equation 25): no all-to-all on `hosts` hosts with `degree` unit links each takes less
/// time than this, 1/f in their terms: the sum of the distances in a tree that branches `degree` ways, over `degree`.
double theorem_1_time(NodeId hosts, int degree);

}  // namespace colltopo
