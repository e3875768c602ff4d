// What can be said about a topology: facts, narrow cuts and a fingerprint.
#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/format.h>

#include "colltopo/topology.h"
#include "topology/cuts.h"

namespace colltopo {

namespace {

constexpr NodeId k_most_centres = 64;  // of balls; more find the same cuts again

/// A cut that grows node by node.
class GrowingCut {
 public:
  explicit GrowingCut(const Topology& topology) : topology_(topology) {
    cut_.inside.assign(static_cast<std::size_t>(topology.nodes()), false);
  }
  void add(NodeId node) {
    for (const LinkId id : topology_.links_out(node)) {
      const Link& link = topology_.link(id);
      if (cut_.inside[static_cast<std::size_t>(link.head)])
        cut_.bandwidth_in -= link.bandwidth;
      else
        cut_.bandwidth_out += link.bandwidth;
    }
    for (const LinkId id : topology_.links_in(node)) {
      const Link& link = topology_.link(id);
      if (cut_.inside[static_cast<std::size_t>(link.tail)])
        cut_.bandwidth_out -= link.bandwidth;
      else
        cut_.bandwidth_in += link.bandwidth;
    }
    cut_.inside[static_cast<std::size_t>(node)] = true;
    if (topology_.is_host(node)) ++cut_.hosts_inside;
  }
  const Cut& cut() const { return cut_; }

 private:
  const Topology& topology_;
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
void show_balls(const Topology& topology, NodeId centre, const Cuts& cuts) {
  const std::vector<int> distances = distances_from(topology, centre);
  const auto distance = [&](NodeId node) { return distances[static_cast<std::size_t>(node)]; };
  std::vector<NodeId> nearest;
  for (NodeId node = 0; node < topology.nodes(); ++node)
    if (distance(node) >= 0) nearest.push_back(node);
  std::stable_sort(nearest.begin(), nearest.end(), [&](NodeId a, NodeId b) { return distance(a) < distance(b); });

  GrowingCut ball(topology);
  for (std::size_t i = 0; i < nearest.size(); ++i) {
    ball.add(nearest[i]);
    const bool shell_ends = i + 1 == nearest.size() || distance(nearest[i]) != distance(nearest[i + 1]);
    if (shell_ends || (topology.is_host(nearest[i]) && ball.cut().hosts_inside == topology.hosts() / 2))
      cuts.show(ball.cut());
  }
}

void show_slabs(const Topology& topology, const Cuts& cuts) {
  NodeId stride = topology.hosts();
  for (const int side : topology.sides()) {
    stride /= side;
    GrowingCut slab(topology);
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

void measure_distances(const Topology& topology, TopologyFacts& facts) {
  const bool alike = is_torus(topology);
  const NodeId sources = alike ? 1 : topology.hosts();
  double sum = 0;
  facts.connected = true;
  for (NodeId source = 0; source < sources; ++source) {
    const std::vector<int> distances = distances_from(topology, source);
    for (NodeId host = 0; host < topology.hosts(); ++host) {
      const int distance = distances[static_cast<std::size_t>(host)];
      if (distance < 0) facts.connected = false;
      facts.diameter = std::max(facts.diameter, distance);
      sum += distance;
    }
  }
  if (!facts.connected) {
    facts.diameter = -1;
  } else if (topology.hosts() > 1) {
    facts.average_distance = sum / sources / (topology.hosts() - 1);
  }
}

}  // namespace

void for_each_narrow_cut(const Topology& topology, const std::function<void(const Cut&)>& visit) {
  const Cuts cuts(topology, visit);
  const NodeId hosts = topology.hosts();
  // The balls of a torus are as wide around any other host.
  const NodeId centres = is_torus(topology) && has_equal_links(topology) ? 1 : std::min(hosts, k_most_centres);
  for (NodeId i = 0; i < centres; ++i)
    show_balls(topology, static_cast<NodeId>(static_cast<std::int64_t>(i) * hosts / centres), cuts);
  // Hosts that are no centre still bound what they alone can send and receive.
  for (NodeId host = 0; hosts > centres && host < hosts && hosts <= 4096; ++host) {
    GrowingCut alone(topology);
    alone.add(host);
    cuts.show(alone.cut());
  }
  show_slabs(topology, cuts);
}

std::vector<Cut> narrow_cuts(const Topology& topology) {
  std::vector<Cut> cuts;
  for_each_narrow_cut(topology, [&](const Cut& cut) { cuts.push_back(cut); });
  return cuts;
}

TopologyFacts facts_of(const Topology& topology) {
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
  measure_distances(topology, facts);
  for_each_narrow_cut(topology, [&](const Cut& cut) {
    if (cut.hosts_inside != topology.hosts() / 2 && cut.hosts_inside != (topology.hosts() + 1) / 2) return;
    const double width = std::min(cut.bandwidth_out, cut.bandwidth_in);
    if (facts.bisection == 0 || width < facts.bisection) facts.bisection = width;
  });
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
