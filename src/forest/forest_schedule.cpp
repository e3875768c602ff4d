// Trees as programs. All hops of a forest are sorted once, by step, then by how far on the receiver is, so that ranks
// begin with different peers, and both ends of a message list it in the same order.
#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include <fmt/format.h>

#include "colltopo/derive.h"
#include "colltopo/error.h"
#include "colltopo/forest.h"
#include "colltopo/layers.h"

namespace colltopo {

namespace {

/// Part of a shard that moves over an edge of a tree.
struct Hop {
  Step step = 0;
  Rank from = 0, to = 0;
  NodeId root = 0;
  Chunk first = 0, count = 0;  // of the vector
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

/// Of every chunk of the vector, of which host h is the root of those from first[h] on.
std::vector<Hop> hops_of(const Packing& packing, Rank ranks, const std::vector<Lane>& lane_of_route,
                         std::vector<Chunk> first) {
  std::vector<Hop> hops;
  hops.reserve(packing.parts.size());
  for (const Tree& tree : packing.trees) {
    Chunk& first_of_tree = first[static_cast<std::size_t>(tree.root)];
    for (const TreeEdge& edge : tree.edges) {
      Chunk chunk = first_of_tree;
      for (std::uint32_t i = edge.first_part; i < edge.first_part + edge.parts; ++i) {
        const TreePart& part = packing.parts[i];
        hops.push_back({edge.depth, edge.tail, edge.head, tree.root, chunk, part.chunks,
                        lane_of_route[static_cast<std::size_t>(part.route)]});
        chunk += part.chunks;
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

Step steps_of(const std::vector<Hop>& hops) { return hops.empty() ? 0 : hops.back().step; }

class ForestSchedule {
 public:
  ForestSchedule(const Topology& topology, const Forest& forest)
      : topology_(topology),
        forest_(forest),
        // What spreads, also where it is then run backwards.
        shape_{rooted(forest.collective)                    ? Collective::bcast
               : forest.collective == Collective::allreduce ? Collective::allreduce
                                                            : Collective::allgather,
               topology.hosts(), forest.chunks, forest.root} {}

  Schedule run() {
    const std::vector<std::size_t> numbers_out = add_routes(forest_.out), numbers_in = add_routes(forest_.in);
    table_.finish();
    const std::vector<Hop> out = hops(forest_.out, numbers_out), in = hops(forest_.in, numbers_in);
    std::vector<Program> forwards = programs(out), backwards = programs(in);

    Schedule schedule;
    schedule.name = "forest";
    schedule.topology = fingerprint(topology_);
    schedule.topology_name = topology_.name();
    for (Rank rank = 0; rank < shape_.ranks; ++rank) {
      const auto at = static_cast<std::size_t>(rank);
      schedule.programs.push_back(derived(std::move(forwards[at]), backwards[at], steps_of(in)));
    }
    schedule.shape = schedule.programs.front().shape();
    schedule.routes = std::move(table_).with_layers(topology_);
    return schedule;
  }

 private:
  std::vector<std::size_t> add_routes(const Packing& packing) {
    std::vector<std::size_t> numbers;
    for (const Route& route : packing.routes) numbers.push_back(table_.add(route));
    return numbers;
  }

  /// [host] the first chunk of the vector that it is the root of.
  std::vector<Chunk> firsts() const {
    std::vector<Chunk> first(forest_.roots.size(), 0);
    std::exclusive_scan(forest_.roots.begin(), forest_.roots.end(), first.begin(), Chunk{0});
    return first;
  }

  std::vector<Hop> hops(const Packing& packing, const std::vector<std::size_t>& numbers) const {
    std::vector<Lane> lanes;
    for (const std::size_t number : numbers) lanes.push_back(table_.lane(number));
    return hops_of(packing, shape_.ranks, lanes, firsts());
  }

  /// Each rank's part of spreading every chunk from its root. A root sends from its input, but for an allreduce, where
  /// what it spreads was reduced into its output.
  std::vector<Program> programs(const std::vector<Hop>& hops) const {
    std::vector<ProgramBuilder> builders;
    for (Rank rank = 0; rank < shape_.ranks; ++rank) {
      builders.emplace_back(shape_, rank);
      if (shape_.collective == Collective::allgather)
        builders.back().step(0).copy({{Buffer::input, 0, shape_.chunks}},
                                     {{Buffer::output, rank * shape_.chunks, shape_.chunks}});
    }
    for (const Hop& hop : hops) {
      const Run there{Buffer::output, hop.first, hop.count};
      const bool from_input = hop.from == hop.root && shape_.collective != Collective::allreduce;
      const Run here = from_input ? Run{Buffer::input, hop.first - shape_.in_place_offset(hop.from), hop.count} : there;
      builders[static_cast<std::size_t>(hop.from)].step(hop.step).send({here}, hop.to, hop.lane);
      builders[static_cast<std::size_t>(hop.to)].step(hop.step).recv({there}, hop.from, hop.lane);
    }
    std::vector<Program> programs;
    programs.reserve(builders.size());
    for (ProgramBuilder& builder : builders) programs.push_back(std::move(builder).build());
    return programs;
  }

  Program derived(Program&& forwards, const Program& backwards, Step steps) const {
    switch (forest_.collective) {
      case Collective::allgather:
      case Collective::bcast:
        return std::move(forwards);
      case Collective::reduce_scatter:
        return reduce_scatter_from(backwards, steps);
      case Collective::reduce:
        return reduce_from(backwards, steps);
      case Collective::allreduce: {
        const auto rank = static_cast<std::size_t>(backwards.rank());
        return allreduce_from(backwards, forwards, {Buffer::output, firsts()[rank], forest_.roots[rank]}, steps);
      }
      default:
        throw Error(
            fmt::format("trees do not make a {}; expected allgather, reduce_scatter, allreduce, bcast or reduce",
                        name(forest_.collective)));
    }
  }

  const Topology& topology_;
  const Forest& forest_;
  Shape shape_;
  RouteTable table_;
};

}  // namespace

Schedule forest_schedule(const Topology& topology, const Forest& forest) {
  if (forest.roots.size() != static_cast<std::size_t>(topology.hosts()))
    throw Error(
        fmt::format("{}: {} hosts, but the forest is of {}", topology.name(), topology.hosts(), forest.roots.size()));
  return ForestSchedule(topology, forest).run();
}

}  // namespace colltopo
