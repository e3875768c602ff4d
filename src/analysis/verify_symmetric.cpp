// The proof of a symmetric schedule: one orbit for all. Loads and dependencies of orbits of links are those of each
// link, as every element of the group is used once.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "analysis/route_checks.h"
#include "base/index.h"
#include "colltopo/error.h"
#include "colltopo/verify_symmetric.h"
#include "topology/link_images.h"

namespace colltopo {

namespace {

/// What the paths of all representatives put on the orbits of links.
struct OrbitLoads {
  std::vector<std::int32_t> orbit_of;  // [link]
  std::vector<double> size;            // [orbit] links
  std::vector<double> chunks;          // [orbit] of the representatives' paths
  std::vector<double> messages;        // [orbit] likewise

  OrbitLoads(const SymmetricSchedule& schedule, const Topology& topology)
      : orbit_of(link_orbits(topology, schedule.symmetry)) {
    const std::size_t orbits = orbit_of.empty() ? 0 : index(*std::ranges::max_element(orbit_of)) + 1;
    size.assign(orbits, 0);
    chunks.assign(orbits, 0);
    messages.assign(orbits, 0);
    for (const std::int32_t orbit : orbit_of) ++size[index(orbit)];
    for (const PathTree& tree : schedule.paths) add(tree);
  }

  /// Of one link of an orbit, when every element moves the paths once.
  double load(std::int32_t orbit, const SymmetricSchedule& schedule) const {
    return chunks[index(orbit)] * schedule.symmetry.elements() / size[index(orbit)] / schedule.shape.chunks;
  }

 private:
  void add(const PathTree& tree) {
    // What goes over a node's link is what ends there and all that goes on from it.
    std::vector<double> below(tree.nodes.size()), paths(tree.nodes.size());
    for (std::size_t node = tree.nodes.size(); node-- > 1;) {
      const PathTree::Node& at = tree.nodes[node];
      below[node] += at.chunks;
      paths[node] += at.chunks > 0 ? 1 : 0;
      below[index(at.from)] += below[node];
      paths[index(at.from)] += paths[node];
      chunks[index(orbit_of[index(at.link)])] += below[node];
      messages[index(orbit_of[index(at.link)])] += paths[node];
    }
  }
};

/// A tree's links, which must be there and follow each other, and where its paths end. Throws Error.
void check_tree(const SymmetricSchedule& schedule, const Topology& topology, std::size_t orbit) {
  const Rank host = schedule.symmetry.representatives()[orbit];
  const PathTree& tree = schedule.paths[orbit];
  std::vector<NodeId> end(tree.nodes.size(), host);
  for (std::size_t node = 1; node < tree.nodes.size(); ++node) {
    const PathTree::Node& at = tree.nodes[node];
    if (at.from < 0 || index(at.from) >= node)
      throw Error(fmt::format("node {} goes on from {}, expected one before it", node, at.from));
    if (at.link < 0 || index(at.link) >= topology.links().size())
      throw Error(fmt::format("node {} takes link {}; the topology has links 0..{}", node, at.link,
                              topology.links().size() - 1));
    if (topology.link(at.link).tail != end[index(at.from)])
      throw Error(fmt::format("node {} takes link {} ({}) from {}; links must follow each other", node, at.link,
                              topology.link_name(at.link), topology.node_name(end[index(at.from)])));
    end[node] = topology.link(at.link).head;
  }
  // The same lanes, however the file cuts targets into lines.
  const auto by_target = [&](const std::vector<Split>& splits) {
    std::vector<const std::vector<Chunk>*> lanes(index(schedule.shape.ranks), nullptr);
    for (const Split& split : splits)
      for (Rank target = split.first; target < split.first + split.count; ++target) lanes[index(target)] = &split.lanes;
    return lanes;
  };
  const std::vector<Split> by_paths = splits_of(topology, host, tree);
  const auto sent = by_target(schedule.splits[orbit]), routed = by_target(by_paths);
  for (Rank target = 0; target < schedule.shape.ranks; ++target)
    if (target != host && *sent[index(target)] != *routed[index(target)])
      throw Error(fmt::format("chunks to {} are {}, its paths are for {}", topology.node_name(target),
                              fmt::join(*sent[index(target)], " "), fmt::join(*routed[index(target)], " ")));
}

/// Dependencies between orbits of links in one layer: a cycle of orbits, moved round and round, is one of links.
LinkId waiting_in_a_cycle_of_orbits(const SymmetricSchedule& schedule, const OrbitLoads& loads, std::int32_t layer) {
  std::vector<std::vector<std::int32_t>> wanted(loads.size.size());  // [orbit]
  for (const PathTree& tree : schedule.paths) {
    std::vector<bool> used(tree.nodes.size(), false);  // by a path of this layer
    for (std::size_t node = tree.nodes.size(); node-- > 1;) {
      const PathTree::Node& at = tree.nodes[node];
      used[node] = used[node] || (at.chunks > 0 && at.layer == layer);
      if (!used[node] || at.from == 0) continue;
      used[index(at.from)] = true;
      wanted[index(loads.orbit_of[index(tree.nodes[index(at.from)].link)])].push_back(loads.orbit_of[index(at.link)]);
    }
  }
  std::vector<std::int32_t> waited_for(wanted.size(), 0);
  for (auto& orbits : wanted) {
    std::ranges::sort(orbits);
    orbits.erase(std::unique(orbits.begin(), orbits.end()), orbits.end());
    for (const std::int32_t orbit : orbits) ++waited_for[index(orbit)];
  }
  std::vector<std::size_t> free;
  for (std::size_t orbit = 0; orbit < wanted.size(); ++orbit)
    if (waited_for[orbit] == 0) free.push_back(orbit);
  std::size_t taken = 0;
  for (; !free.empty(); ++taken) {
    const std::size_t orbit = free.back();
    free.pop_back();
    for (const std::int32_t next : wanted[orbit])
      if (--waited_for[index(next)] == 0) free.push_back(index(next));
  }
  if (taken == wanted.size()) return -1;
  for (std::size_t link = 0; link < loads.orbit_of.size(); ++link)
    if (waited_for[index(loads.orbit_of[link])] > 0) return static_cast<LinkId>(link);
  return -1;
}

std::set<std::int32_t> layers_of(const SymmetricSchedule& schedule) {
  std::set<std::int32_t> layers;
  for (const PathTree& tree : schedule.paths)
    for (const PathTree::Node& node : tree.nodes)
      if (node.chunks > 0) layers.insert(node.layer);
  return layers;
}

void measure(const SymmetricSchedule& schedule, const Topology& topology, const OrbitLoads& loads,
             SymmetricVerdict& verdict) {
  double sum = 0;
  for (std::size_t link = 0; link < loads.orbit_of.size(); ++link) {
    const std::int32_t orbit = loads.orbit_of[link];
    const double load = loads.load(orbit, schedule);
    const double seconds = load / topology.links()[link].bandwidth;
    sum += load;
    if (seconds > verdict.busiest_link_s_per_byte) {
      verdict.busiest_link_s_per_byte = seconds;
      verdict.busiest_link_load = load;
      verdict.busiest_link = static_cast<LinkId>(link);
    }
    const double messages = loads.messages[index(orbit)] * schedule.symmetry.elements() / loads.size[index(orbit)];
    verdict.most_messages_on_a_link = std::max(verdict.most_messages_on_a_link, static_cast<std::size_t>(messages));
  }
  verdict.mean_link_load = sum / static_cast<double>(loads.orbit_of.size());
  for (const PathTree& tree : schedule.paths) {
    std::vector<double> latency(tree.nodes.size(), 0);
    std::size_t paths = 0;
    std::vector<int> hops(tree.nodes.size(), 0);
    for (std::size_t node = 1; node < tree.nodes.size(); ++node) {
      latency[node] = latency[index(tree.nodes[node].from)] + topology.link(tree.nodes[node].link).latency;
      verdict.longest_latency_s = std::max(verdict.longest_latency_s, latency[node]);
      hops[node] = hops[index(tree.nodes[node].from)] + 1;
      if (tree.nodes[node].chunks == 0) continue;
      ++paths;
      const bool by_switch = hops[node] == 2 && !topology.is_host(topology.link(tree.nodes[node].link).tail);
      verdict.neighbours_only = verdict.neighbours_only && (hops[node] == 1 || by_switch);
    }
    verdict.messages_of_a_rank = std::max(verdict.messages_of_a_rank, paths);
    verdict.routes += paths * index(schedule.symmetry.elements());
  }
}

}  // namespace

std::vector<Violation> verify_symmetric(const SymmetricSchedule& schedule) {
  std::vector<Violation> violations;
  const auto add = [&](Rank rank, std::string what) {
    if (violations.size() < analysis::Violations::k_most) violations.push_back({rank, -1, std::move(what)});
  };
  if (schedule.shape.collective != Collective::alltoall || schedule.shape.ranks != schedule.symmetry.hosts())
    add(-1, fmt::format("symmetries of {} ranks for {} on {}, expected alltoall on as many", schedule.symmetry.hosts(),
                        name(schedule.shape.collective), schedule.shape.ranks));
  const auto orbits = index(schedule.symmetry.orbits());
  if (schedule.splits.size() != orbits || schedule.paths.size() != orbits)
    add(-1, fmt::format("targets of {} and paths of {} orbits, expected {}", schedule.splits.size(),
                        schedule.paths.size(), orbits));
  if (!violations.empty()) return violations;
  if (const std::string fault = schedule.symmetry.fault(); !fault.empty())
    add(-1, fmt::format("its symmetries are not a group: {}", fault));
  for (std::size_t orbit = 0; orbit < orbits; ++orbit) {
    const Rank host = schedule.symmetry.representatives()[orbit];
    if (std::string fault = split_fault(schedule.shape, host, schedule.splits[orbit]); !fault.empty())
      add(host, std::move(fault));
  }
  return violations;
}

Proof proof_of_symmetric() {
  Proof proof;
  proof.stepped = true;
  proof.independent = true;
  return proof;
}

SymmetricVerdict verify_symmetric_on(const SymmetricSchedule& schedule, const Topology& topology, Fabric fabric) {
  SymmetricVerdict verdict;
  verdict.violations = verify_symmetric(schedule);
  const auto add = [&](Rank rank, std::string what) {
    if (verdict.violations.size() < analysis::Violations::k_most)
      verdict.violations.push_back({rank, -1, std::move(what)});
  };
  if (schedule.shape.ranks != topology.hosts())
    add(-1, fmt::format("{} ranks; {} has {} hosts", schedule.shape.ranks, topology.name(), topology.hosts()));
  else if (const std::string own = fingerprint(topology); !schedule.topology.empty() && schedule.topology != own)
    add(-1, fmt::format("its routes are those of topology {}; {} is {}", schedule.topology, topology.name(), own));
  for (const Generator& generator : schedule.symmetry.generators())
    if (generator.image.size() != index(topology.nodes()))
      add(-1, fmt::format("a generator moves {} nodes; {} has {}", generator.image.size(), topology.name(),
                          topology.nodes()));
  if (!verdict.violations.empty()) return verdict;
  try {
    for (std::size_t orbit = 0; orbit < schedule.paths.size(); ++orbit) check_tree(schedule, topology, orbit);
    const OrbitLoads loads(schedule, topology);
    measure(schedule, topology, loads, verdict);
    const std::set<std::int32_t> layers = layers_of(schedule);
    verdict.layers = layers.size();
    for (const std::int32_t layer : layers)
      if (const LinkId link = fabric == Fabric::lossy ? -1 : waiting_in_a_cycle_of_orbits(schedule, loads, layer);
          link >= 0)
        add(-1, fmt::format("layer {}: routes wait for each other in a cycle behind link {} ({}); a lossless network "
                            "can deadlock",
                            layer, link, topology.link_name(link)));
  } catch (const Error& error) {
    add(-1, error.what());
  }
  return verdict;
}

Cost cost_of(const SymmetricSchedule& schedule, const Topology& topology) {
  const SymmetricVerdict verdict = verify_symmetric_on(schedule, topology, Fabric::lossy);
  if (!verdict.violations.empty())
    throw Error(fmt::format("{}: {}", schedule.name, to_string(verdict.violations.front())));
  Cost cost;
  cost.messages = verdict.routes;
  cost.busiest_link = verdict.busiest_link;
  cost.busiest_link_s_per_byte = verdict.busiest_link_s_per_byte;
  cost.neighbours_only = verdict.neighbours_only;
  cost.steps = {{1, verdict.routes, verdict.messages_of_a_rank, verdict.most_messages_on_a_link,
                 verdict.longest_latency_s, verdict.busiest_link, verdict.busiest_link_s_per_byte}};
  return cost;
}

std::vector<double> link_loads(const SymmetricSchedule& schedule, const Topology& topology) {
  const OrbitLoads loads(schedule, topology);
  std::vector<double> result;
  result.reserve(loads.orbit_of.size());
  for (const std::int32_t orbit : loads.orbit_of) result.push_back(loads.load(orbit, schedule));
  return result;
}

}  // namespace colltopo
