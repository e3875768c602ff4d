// What can be said about a topology: facts, narrow cuts and a fingerprint.
#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/format.h>

#include "colltopo/topology.h"
#include "topology/cuts.h"
#include "topology/orbits.h"

namespace colltopo {

namespace {

constexpr NodeId k_most_centres = 64;  // of balls; more find the same cuts again

/// What is at the other ends of links, node by node and side by side in memory: balls around one host after another
/// look at it over and over.
class Neighbours {
 public:
  struct End {
    NodeId node;
    double bandwidth;  // of the link
  };

  explicit Neighbours(const Topology& topology) {
    ends_.reserve(2 * topology.links().size());
    for (NodeId node = 0; node < topology.nodes(); ++node) {
      add(topology, topology.links_out(node), &Link::head);
      add(topology, topology.links_in(node), &Link::tail);
    }
  }
  std::span<const End> out(NodeId node) const { return ends(2 * static_cast<std::size_t>(node)); }
  std::span<const End> in(NodeId node) const { return ends(2 * static_cast<std::size_t>(node) + 1); }

 private:
  void add(const Topology& topology, std::span<const LinkId> links, NodeId Link::*far) {
    for (const LinkId id : links) ends_.push_back({topology.link(id).*far, topology.link(id).bandwidth});
    first_.push_back(ends_.size());
  }
  std::span<const End> ends(std::size_t group) const {
    return std::span(ends_).subspan(first_[group], first_[group + 1] - first_[group]);
  }

  std::vector<End> ends_;
  std::vector<std::size_t> first_{0};  // into ends_: of the links out of a node and of those into it, in turn
};

/// A cut that grows node by node.
class GrowingCut {
 public:
  GrowingCut(const Topology& topology, const Neighbours& neighbours) : topology_(topology), neighbours_(neighbours) {
    cut_.inside.assign(static_cast<std::size_t>(topology.nodes()), false);
  }
  void add(NodeId node) {
    for (const auto& [head, bandwidth] : neighbours_.out(node))
      if (cut_.inside[static_cast<std::size_t>(head)])
        cut_.bandwidth_in -= bandwidth;
      else
        cut_.bandwidth_out += bandwidth;
    for (const auto& [tail, bandwidth] : neighbours_.in(node))
      if (cut_.inside[static_cast<std::size_t>(tail)])
        cut_.bandwidth_out -= bandwidth;
      else
        cut_.bandwidth_in += bandwidth;
    cut_.inside[static_cast<std::size_t>(node)] = true;
    if (topology_.is_host(node)) ++cut_.hosts_inside;
  }
  const Cut& cut() const { return cut_; }

 private:
  const Topology& topology_;
  const Neighbours& neighbours_;
  Cut cut_;
};

/// Shows the cuts that have a host on both sides, one after the other: a cut has a bit per node, and there are
/// thousands.
class Cuts {
 public:
  Cuts(const Topology& topology, const std::function<void(const Cut&)>& visit) : topology_(topology), visit_(visit) {}
  void show(const Cut& cut) const {
    if (cut.hosts_inside > 0 && cut.hosts_inside < topology_.hosts()) visit_(cut);
  }

 private:
  const Topology& topology_;
  const std::function<void(const Cut&)>& visit_;
};

// The nodes within distance d, for every d, and the nearest half of the hosts.
void show_balls(const Topology& topology, const Neighbours& neighbours, NodeId centre, NodeId most_hosts,
                const Cuts& cuts) {
  const std::vector<int> distances = distances_from(topology, centre);
  const auto distance = [&](NodeId node) { return distances[static_cast<std::size_t>(node)]; };
  std::vector<NodeId> nearest;
  for (NodeId node = 0; node < topology.nodes(); ++node)
    if (distance(node) >= 0) nearest.push_back(node);
  std::stable_sort(nearest.begin(), nearest.end(), [&](NodeId a, NodeId b) { return distance(a) < distance(b); });

  GrowingCut ball(topology, neighbours);
  for (std::size_t i = 0; i < nearest.size(); ++i) {
    ball.add(nearest[i]);
    if (ball.cut().hosts_inside > most_hosts) break;
    const bool shell_ends = i + 1 == nearest.size() || distance(nearest[i]) != distance(nearest[i + 1]);
    if (shell_ends || (topology.is_host(nearest[i]) && ball.cut().hosts_inside == topology.hosts() / 2))
      cuts.show(ball.cut());
  }
}

void show_slabs(const Topology& topology, const Neighbours& neighbours, const Cuts& cuts) {
  NodeId stride = topology.hosts();
  for (const int side : topology.sides()) {
    stride /= side;
    GrowingCut slab(topology, neighbours);
    for (int coordinate = 0; coordinate + 1 < side; ++coordinate) {
      for (NodeId row = coordinate * stride; row < topology.hosts(); row += side * stride)
        for (NodeId host = row; host < row + stride; ++host) slab.add(host);
      cuts.show(slab.cut());
    }
  }
}

// FNV-1a, 64 bits: eight bytes of each value, lowest first.
class Hash {
 public:
  void add(std::uint64_t value) {
    for (int byte = 0; byte < 8; ++byte) {
      hash_ ^= (value >> (8 * byte)) & 0xff;
      hash_ *= 0x100000001b3;
    }
  }
  std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325;
};

/// A torus, every host of which sees the same distances.
bool is_torus(const Topology& topology) { return !topology.sides().empty() && topology.wraps(); }

bool has_equal_links(const Topology& topology) {
  return std::ranges::all_of(topology.links(),
                             [&](const Link& link) { return link.bandwidth == topology.links().front().bandwidth; });
}

/// A host that sees the same distances as others, and how many they are with it.
struct Source {
  NodeId host = 0;
  NodeId alike = 0;
};

/// The first host of every orbit; without orbits all hosts, or one of a torus.
std::vector<Source> sources_of(const Topology& topology, std::span<const int> host_orbit) {
  if (host_orbit.empty() && is_torus(topology)) return {{0, topology.hosts()}};
  std::vector<Source> sources;
  for (NodeId host = 0; host < topology.hosts(); ++host) {
    const std::size_t orbit =
        host_orbit.empty() ? sources.size() : static_cast<std::size_t>(host_orbit[static_cast<std::size_t>(host)]);
    if (orbit == sources.size()) sources.push_back({host, 0});
    ++sources[orbit].alike;
  }
  return sources;
}

void measure_distances(const Topology& topology, std::span<const int> host_orbit, TopologyFacts& facts) {
  double sum = 0;
  facts.connected = true;
  for (const Source& source : sources_of(topology, host_orbit)) {
    const std::vector<int> distances = distances_from(topology, source.host);
    for (NodeId host = 0; host < topology.hosts(); ++host) {
      const int distance = distances[static_cast<std::size_t>(host)];
      if (distance < 0) facts.connected = false;
      facts.diameter = std::max(facts.diameter, distance);
      sum += double{1} * distance * source.alike;
    }
  }
  if (!facts.connected) {
    facts.diameter = -1;
  } else if (topology.hosts() > 1) {
    facts.average_distance = sum / topology.hosts() / (topology.hosts() - 1);
  }
}

}  // namespace

void for_each_narrow_cut(const Topology& topology, const std::function<void(const Cut&)>& visit, NodeId most_hosts) {
  const Cuts cuts(topology, visit);
  const Neighbours neighbours(topology);
  const NodeId hosts = topology.hosts();
  // The balls of a torus are as wide around any other host.
  const NodeId centres = is_torus(topology) && has_equal_links(topology) ? 1 : std::min(hosts, k_most_centres);
  for (NodeId i = 0; i < centres; ++i)
    show_balls(topology, neighbours, static_cast<NodeId>(static_cast<std::int64_t>(i) * hosts / centres), most_hosts,
               cuts);
  // Hosts that are no centre still bound what they alone can send and receive.
  for (NodeId host = 0; hosts > centres && host < hosts && hosts <= 4096; ++host) {
    GrowingCut alone(topology, neighbours);
    alone.add(host);
    cuts.show(alone.cut());
  }
  show_slabs(topology, neighbours, cuts);
}

std::vector<Cut> narrow_cuts(const Topology& topology) {
  std::vector<Cut> cuts;
  for_each_narrow_cut(topology, [&](const Cut& cut) { cuts.push_back(cut); });
  return cuts;
}

TopologyFacts facts_of(const Topology& topology) { return facts_of(topology, {}); }

TopologyFacts facts_of(const Topology& topology, const Orbits& orbits) {
  TopologyFacts facts;
  facts.hosts = topology.hosts();
  facts.switches = topology.switches();
  facts.links = static_cast<LinkId>(topology.links().size());
  facts.smallest_degree = facts.links;
  facts.regular = true;
  for (NodeId host = 0; host < topology.hosts(); ++host) {
    const int degree = static_cast<int>(topology.links_out(host).size());
    facts.smallest_degree = std::min(facts.smallest_degree, degree);
    facts.largest_degree = std::max(facts.largest_degree, degree);
    if (topology.links_in(host).size() != topology.links_in(0).size()) facts.regular = false;
  }
  if (facts.smallest_degree != facts.largest_degree) facts.regular = false;
  facts.slowest_link = topology.slowest_bandwidth();
  for (const Link& link : topology.links()) facts.fastest_link = std::max(facts.fastest_link, link.bandwidth);
  measure_distances(topology, orbits.host_orbit, facts);
  const NodeId lesser_half = topology.hosts() / 2, greater_half = (topology.hosts() + 1) / 2;
  for_each_narrow_cut(
      topology,
      [&](const Cut& cut) {
        if (cut.hosts_inside != lesser_half && cut.hosts_inside != greater_half) return;
        const double width = std::min(cut.bandwidth_out, cut.bandwidth_in);
        if (facts.bisection == 0 || width < facts.bisection) facts.bisection = width;
      },
      greater_half);
  return facts;
}

double theorem_1_time(NodeId hosts, int degree) {
  double distances = 0;
  double level = 1;  // nodes of the tree this many hops from its root
  double left = hosts - 1;
  for (int hops = 1; left > 0; ++hops) {
    level = std::min(level * degree, left);
    distances += hops * level;
    left -= level;
  }
  return distances / degree;
}

std::string fingerprint(const Topology& topology) {
  Hash hash;
  hash.add(static_cast<std::uint64_t>(topology.hosts()));
  hash.add(static_cast<std::uint64_t>(topology.switches()));
  for (const Link& link : topology.links()) {
    hash.add(static_cast<std::uint64_t>(link.tail));
    hash.add(static_cast<std::uint64_t>(link.head));
    // Parts per million, so that units and rounding do not show.
    hash.add(static_cast<std::uint64_t>(std::llround(link.bandwidth / topology.slowest_bandwidth() * 1e6)));
  }
  return fmt::format("{}h{}s{}l-{:016x}", topology.hosts(), topology.switches(), topology.links().size(), hash.value());
}

}  // namespace colltopo
