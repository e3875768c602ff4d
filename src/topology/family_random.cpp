// Random regular networks: Jellyfish and Xpander, hosts joined directly. The same spec gives the same network
// everywhere.
#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "base/random.h"
#include "topology/families.h"

namespace colltopo {

namespace {

constexpr int k_most_tries = 1000;  // of whole graphs, until one is connected
constexpr int k_most_degree = 1024;
constexpr int k_most_seed = 2147483647;
constexpr std::int64_t k_most_ends = 1 << 22;  // of cables: some 100 bytes each while they are drawn

struct Cable {
  NodeId a = 0, b = 0;
};

struct RandomSpec {
  NodeId hosts = 0;
  int degree = 0;
  std::uint64_t seed = 1;
};

RandomSpec random_spec(const FamilySpec& spec, int least_degree) {
  expect_parameters(spec, 2, fmt::format("{}:HOSTS:DEGREE[:SEED]", spec.name), 1);
  RandomSpec random;
  random.hosts = number(spec, spec.parameters[0], "number of hosts", 2, k_most_hosts);
  random.degree = number(spec, spec.parameters[1], "degree", std::min(least_degree, random.hosts - 1),
                         std::min(random.hosts - 1, k_most_degree));
  if (std::int64_t{random.hosts} * random.degree > k_most_ends)
    refuse(spec, "too many links", fmt::format("hosts times degree up to {}", k_most_ends));
  if (spec.parameters.size() == 3)
    random.seed = static_cast<std::uint64_t>(number(spec, spec.parameters[2], "seed", 0, k_most_seed));
  return random;
}

bool connected(NodeId hosts, const std::vector<Cable>& cables) {
  std::vector<NodeId> parent(static_cast<std::size_t>(hosts));
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](NodeId host) {
    while (parent[static_cast<std::size_t>(host)] != host)
      host = parent[static_cast<std::size_t>(host)] =
          parent[static_cast<std::size_t>(parent[static_cast<std::size_t>(host)])];
    return host;
  };
  NodeId parts = hosts;
  for (const Cable& cable : cables) {
    const NodeId a = root(cable.a), b = root(cable.b);
    if (a == b) continue;
    parent[static_cast<std::size_t>(a)] = b;
    --parts;
  }
  return parts == 1;
}

Topology joined(const FamilySpec& spec, NodeId hosts, std::vector<Cable> cables) {
  for (Cable& cable : cables)
    if (cable.a > cable.b) std::swap(cable.a, cable.b);
  std::sort(cables.begin(), cables.end(),
            [](const Cable& x, const Cable& y) { return x.a != y.a ? x.a < y.a : x.b < y.b; });
  TopologyBuilder builder(spec.text, hosts);
  for (const Cable& cable : cables) builder.cable(cable.a, cable.b);
  return std::move(builder).build();
}

/// Cables with the neighbours of every host, so that doubles are seen.
class Pairing {
 public:
  Pairing(NodeId hosts, int degree, Lots& lots) : neighbours_(static_cast<std::size_t>(hosts)) {
    std::vector<NodeId> ends;
    for (NodeId host = 0; host < hosts; ++host) ends.insert(ends.end(), static_cast<std::size_t>(degree), host);
    lots.shuffle(ends);
    for (std::size_t i = 0; i < ends.size(); i += 2) {
      cables_.push_back({ends[i], ends[i + 1]});
      join(cables_.back());
    }
  }

  /// Exchanges ends with cables drawn by lot until no cable is a loop or a double. False: gave up.
  bool make_simple(Lots& lots) {
    const std::size_t most_tries = 1000 + 100 * cables_.size();
    std::size_t tries = 0;
    for (std::size_t i = 0; i < cables_.size(); ++i) {
      while (!simple(cables_[i])) {
        if (++tries > most_tries) return false;
        exchange(i, lots.below(cables_.size()), lots.below(2) == 1);
      }
    }
    return true;
  }
  std::vector<Cable> take() { return std::move(cables_); }

 private:
  std::vector<NodeId>& neighbours(NodeId host) { return neighbours_[static_cast<std::size_t>(host)]; }
  std::ptrdiff_t times(const Cable& cable) {
    return std::count(neighbours(cable.a).begin(), neighbours(cable.a).end(), cable.b);
  }
  bool simple(const Cable& cable) { return cable.a != cable.b && times(cable) == 1; }
  void join(const Cable& cable) {
    neighbours(cable.a).push_back(cable.b);
    neighbours(cable.b).push_back(cable.a);
  }
  void part(const Cable& cable) {
    neighbours(cable.a).erase(std::find(neighbours(cable.a).begin(), neighbours(cable.a).end(), cable.b));
    neighbours(cable.b).erase(std::find(neighbours(cable.b).begin(), neighbours(cable.b).end(), cable.a));
  }
  /// a-b and c-d become a-c and b-d, or a-d and b-c, unless that makes a new loop or double.
  void exchange(std::size_t first, std::size_t second, bool crossed) {
    if (first == second) return;
    const Cable old_first = cables_[first], old_second = cables_[second];
    const Cable new_first{old_first.a, crossed ? old_second.b : old_second.a};
    const Cable new_second{old_first.b, crossed ? old_second.a : old_second.b};
    part(old_first);
    part(old_second);
    join(new_first);
    join(new_second);
    if (simple(new_first) && simple(new_second)) {
      cables_[first] = new_first;
      cables_[second] = new_second;
      return;
    }
    part(new_first);
    part(new_second);
    join(old_first);
    join(old_second);
  }

  std::vector<Cable> cables_;
  std::vector<std::vector<NodeId>> neighbours_;
};

std::vector<Cable> complement(NodeId hosts, const std::vector<Cable>& cables) {
  std::vector<std::vector<NodeId>> above(static_cast<std::size_t>(hosts));
  for (const Cable& cable : cables)
    above[static_cast<std::size_t>(std::min(cable.a, cable.b))].push_back(std::max(cable.a, cable.b));
  std::vector<Cable> result;
  for (NodeId a = 0; a < hosts; ++a)
    for (NodeId b = a + 1; b < hosts; ++b)
      if (std::count(above[static_cast<std::size_t>(a)].begin(), above[static_cast<std::size_t>(a)].end(), b) == 0)
        result.push_back({a, b});
  return result;
}

/// Empty when no simple pairing was found, which a new try may find.
std::vector<Cable> random_regular(NodeId hosts, int degree, Lots& lots) {
  // Exchanges find no room in a graph that lacks few cables: there the few that are missing are drawn.
  const bool dense = degree > (hosts - 1) / 2;
  Pairing pairing(hosts, dense ? hosts - 1 - degree : degree, lots);
  if (!pairing.make_simple(lots)) return {};
  return dense ? complement(hosts, pairing.take()) : pairing.take();
}

}  // namespace

// Singla et al. 2012, with the hosts themselves as the nodes: a random regular graph without doubles, connected.
Topology jellyfish(const FamilySpec& spec) {
  const RandomSpec random = random_spec(spec, 2);
  if (random.hosts % 2 != 0 && random.degree % 2 != 0)
    refuse(spec, fmt::format("{} hosts of degree {}", random.hosts, random.degree), "one of both to be even");
  Lots lots(random.seed);
  if (random.degree == 2 && random.hosts > 2) {  // connected only as one ring, which a random pairing seldom is
    std::vector<NodeId> order(static_cast<std::size_t>(random.hosts));
    std::iota(order.begin(), order.end(), 0);
    lots.shuffle(order);
    std::vector<Cable> ring;
    for (std::size_t i = 0; i < order.size(); ++i) ring.push_back({order[i], order[(i + 1) % order.size()]});
    return joined(spec, random.hosts, std::move(ring));
  }
  for (int tries = 0; tries < k_most_tries; ++tries) {
    std::vector<Cable> cables = random_regular(random.hosts, random.degree, lots);
    if (connected(random.hosts, cables)) return joined(spec, random.hosts, std::move(cables));
  }
  refuse(spec, fmt::format("no connected graph in {} tries", k_most_tries), "a larger degree or another seed");
}

// Valadarsky et al. 2016: a random lift of the complete graph on DEGREE + 1 nodes. Every node becomes a group of as
// many hosts, every cable a random matching of two groups.
Topology xpander(const FamilySpec& spec) {
  const RandomSpec random = random_spec(spec, 3);
  const NodeId groups = random.degree + 1;
  if (random.hosts % groups != 0)
    refuse(spec, fmt::format("{} hosts of degree {}", random.hosts, random.degree),
           fmt::format("a multiple of {} hosts, such as {}", groups, (random.hosts / groups + 1) * groups));
  const NodeId group_hosts = random.hosts / groups;
  Lots lots(random.seed);
  std::vector<NodeId> matching(static_cast<std::size_t>(group_hosts));
  for (int tries = 0; tries < k_most_tries; ++tries) {
    std::vector<Cable> cables;
    for (NodeId a = 0; a < groups; ++a) {
      for (NodeId b = a + 1; b < groups; ++b) {
        std::iota(matching.begin(), matching.end(), 0);
        lots.shuffle(matching);
        for (NodeId member = 0; member < group_hosts; ++member)
          cables.push_back({a * group_hosts + member, b * group_hosts + matching[static_cast<std::size_t>(member)]});
      }
    }
    if (connected(random.hosts, cables)) return joined(spec, random.hosts, std::move(cables));
  }
  refuse(spec, fmt::format("no connected graph in {} tries", k_most_tries), "a larger degree or another seed");
}

}  // namespace colltopo
