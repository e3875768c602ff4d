// Trees as programs. All hops of a forest are sorted once, by step, then by how far on the receiver is, so that ranks
// begin with different peers, and both ends of a message list it in the same order.
#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "colltopo/derive.h"
#include "colltopo/error.h"
#include "colltopo/forest.h"
#include "colltopo/layers.h"
#include "forest/directions.h"

namespace colltopo {

namespace {

/// Part of a shard that moves over an edge of a tree.
struct Hop {
  Step step = 0;
  Rank from = 0, to = 0;
  NodeId root = 0;
  Chunk first = 0, count = 0;  // of the shard
  Lane lane = 0;
};

/// The routes of a schedule: those of broadcasts and those of reductions, each path once.
class RouteTable {
 public:
  /// Numbers are valid for lane() after finish().
  std::size_t add(const Route& route) {
    const auto [found, is_new] = index_.try_emplace({route.source, route.target, route.links}, index_.size());
    return found->second;
  }
  void finish() {
    lanes_.resize(index_.size());
    for (const auto& [key, number] : index_) {
      const auto& [source, target, links] = key;
      const bool same_pair = !routes_.empty() && routes_.back().source == source && routes_.back().target == target;
      lanes_[number] = same_pair ? routes_.back().lane + 1 : 0;
      routes_.push_back({source, target, lanes_[number], 0, links});
    }
    index_.clear();
  }
  Lane lane(std::size_t number) const { return lanes_[number]; }

  std::vector<Route> with_layers(const Topology& topology) && {
    std::vector<std::span<const LinkId>> links;
    for (const Route& route : routes_) links.emplace_back(route.links);
    const std::vector<std::int32_t> layers = layers_of(topology, links, LayerMethod::lash_sequential);
    for (std::size_t i = 0; i < routes_.size(); ++i) routes_[i].layer = layers[i];
    return std::move(routes_);
  }

 private:
  std::map<std::tuple<Rank, Rank, std::vector<LinkId>>, std::size_t> index_;
  std::vector<Lane> lanes_;
  std::vector<Route> routes_;
};

std::vector<Hop> hops_of(const Packing& packing, Rank ranks, const std::vector<Lane>& lane_of_route) {
  std::vector<Hop> hops;
  hops.reserve(packing.parts.size());
  std::vector<Chunk> given(static_cast<std::size_t>(ranks), 0);  // [root] chunks of earlier trees
  for (const Tree& tree : packing.trees) {
    Chunk& first_of_tree = given[static_cast<std::size_t>(tree.root)];
    for (const TreeEdge& edge : tree.edges) {
      Chunk first = first_of_tree;
      for (std::uint32_t i = edge.first_part; i < edge.first_part + edge.parts; ++i) {
        const TreePart& part = packing.parts[i];
        hops.push_back({edge.depth, edge.tail, edge.head, tree.root, first, part.chunks,
                        lane_of_route[static_cast<std::size_t>(part.route)]});
        first += part.chunks;
      }
    }
    first_of_tree += tree.chunks;
  }
  std::ranges::sort(hops, {}, [&](const Hop& hop) {
    return std::tuple(hop.step, (hop.to - hop.from + ranks) % ranks, hop.from, (hop.root - hop.from + ranks) % ranks,
                      hop.first);
  });
  return hops;
}

std::vector<Program> allgather_of(const Shape& shape, const std::vector<Hop>& hops) {
  std::vector<ProgramBuilder> builders;
  for (Rank rank = 0; rank < shape.ranks; ++rank) {
    builders.emplace_back(shape, rank);
    builders.back().step(0).copy({{Buffer::input, 0, shape.chunks}},
                                 {{Buffer::output, rank * shape.chunks, shape.chunks}});
  }
  for (const Hop& hop : hops) {
    const Run there{Buffer::output, hop.root * shape.chunks + hop.first, hop.count};
    const Run here = hop.from == hop.root ? Run{Buffer::input, hop.first, hop.count} : there;
    builders[static_cast<std::size_t>(hop.from)].step(hop.step).send({here}, hop.to, hop.lane);
    builders[static_cast<std::size_t>(hop.to)].step(hop.step).recv({there}, hop.from, hop.lane);
  }
  std::vector<Program> programs;
  programs.reserve(builders.size());
  for (ProgramBuilder& builder : builders) programs.push_back(std::move(builder).build());
  return programs;
}

/// The packing of `in`, or that of `out` with all routes turned onto the links' twins.
std::vector<Route> routes_backwards(const Topology& topology, const Forest& forest) {
  if (!forest.in.trees.empty()) return forest.in.routes;
  const std::vector<LinkId> twin = twins(topology);
  std::vector<Route> routes = forest.out.routes;
  for (Route& route : routes) {
    std::swap(route.source, route.target);
    std::ranges::reverse(route.links);
    for (LinkId& link : route.links) link = twin[static_cast<std::size_t>(link)];
  }
  return routes;
}

class ForestSchedule {
 public:
  ForestSchedule(const Topology& topology, const Forest& forest, Collective collective)
      : topology_(topology),
        forest_(forest),
        collective_(collective),
        shape_{Collective::allgather, topology.hosts(), static_cast<Chunk>(forest.achieved.trees), 0} {}

  Schedule run(Rank root) {
    const bool forwards = row(collective_).spreads;
    const bool backwards = row(collective_).combines;
    std::vector<std::size_t> numbers_out, numbers_in;
    if (forwards) numbers_out = add_routes(forest_.out.routes, root);
    if (backwards) numbers_in = add_routes(routes_backwards(topology_, forest_), root);
    table_.finish();
    const Packing& in = forest_.in.trees.empty() ? forest_.out : forest_.in;
    std::vector<Program> out_programs, in_programs;
    if (forwards) out_programs = programs(forest_.out, numbers_out);
    if (backwards) in_programs = programs(in, numbers_in);

    Schedule schedule;
    schedule.name = "forest";
    schedule.topology = fingerprint(topology_);
    schedule.topology_name = topology_.name();
    const Step steps = backwards ? steps_of(in, root) : 0;
    for (Rank rank = 0; rank < shape_.ranks; ++rank) {
      const auto at = static_cast<std::size_t>(rank);
      schedule.programs.push_back(from_allgathers(collective_, root, forwards ? &out_programs[at] : nullptr,
                                                  backwards ? &in_programs[at] : nullptr, steps));
    }
    schedule.shape = schedule.programs.front().shape();
    schedule.routes = std::move(table_).with_layers(topology_);
    return schedule;
  }

 private:
  /// Of rooted collectives only one host's trees are of use.
  bool is_used(const Tree& tree, Rank root) const { return !rooted(collective_) || tree.root == root; }

  std::vector<std::size_t> add_routes(const std::vector<Route>& routes, Rank root) {
    const bool is_in = !row(collective_).spreads;
    std::vector<bool> used(routes.size(), !rooted(collective_));
    const Packing& packing = is_in && !forest_.in.trees.empty() ? forest_.in : forest_.out;
    for (const Tree& tree : packing.trees) {
      if (!rooted(collective_) || !is_used(tree, root)) continue;
      for (const TreeEdge& edge : tree.edges)
        for (std::uint32_t i = edge.first_part; i < edge.first_part + edge.parts; ++i)
          used[static_cast<std::size_t>(packing.parts[i].route)] = true;
    }
    std::vector<std::size_t> numbers(routes.size(), 0);
    for (std::size_t i = 0; i < routes.size(); ++i)
      if (used[i]) numbers[i] = table_.add(routes[i]);
    return numbers;
  }

  std::vector<Program> programs(const Packing& packing, const std::vector<std::size_t>& numbers) const {
    std::vector<Lane> lanes;
    lanes.reserve(numbers.size());
    for (const std::size_t number : numbers) lanes.push_back(table_.lane(number));
    return allgather_of(shape_, hops_of(packing, shape_.ranks, lanes));
  }

  Step steps_of(const Packing& packing, Rank root) const {
    Step steps = 0;
    for (const Tree& tree : packing.trees)
      if (is_used(tree, root))
        for (const TreeEdge& edge : tree.edges) steps = std::max(steps, edge.depth);
    return steps;
  }

  const Topology& topology_;
  const Forest& forest_;
  Collective collective_;
  Shape shape_;  // of the allgather
  RouteTable table_;
};

}  // namespace

Schedule forest_schedule(const Topology& topology, const Forest& forest, Collective collective, Rank root) {
  if (!row(collective).made_of_trees())
    throw Error(fmt::format("trees do not make {}; expected a collective that spreads or combines", name(collective)));
  if (topology.hosts() != forest.achieved.hosts)
    throw Error(
        fmt::format("{}: {} hosts, but the forest is of {}", topology.name(), topology.hosts(), forest.achieved.hosts));
  if (root < 0 || root >= topology.hosts())
    throw Error(fmt::format("root {}; ranks are 0..{}", root, topology.hosts() - 1));
  return ForestSchedule(topology, forest, collective).run(rooted(collective) ? root : 0);
}

}  // namespace colltopo
