// From the programme's fractions to trees. A number of trees for the whole vector gives every host a whole number of
// roots; a time that they may take, from the programme's own on, gives every link a whole number of trees. Those are
// parted as the programme parts them: among ways through switches, and between both stages. Flows tell whether trees
// exist in what each stage got; where they do not, what a narrow cut of one stage lacks is taken from the other, and at
// last the time is raised. Parting links between trees that spread and trees that reduce is NP-hard in whole numbers,
// so this is a search, but fractions of small denominators, which optima mostly are, come out exact.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "colltopo/allreduce_bound.h"
#include "colltopo/error.h"
#include "forest/allreduce_lp.h"
#include "forest/parts.h"
#include "forest/spanning_test.h"

namespace colltopo {

namespace {

constexpr double k_whole = 1e-6;  // what rounding of the programme's solution may hide

/// Times over the programme's that are tried.
constexpr double k_excess[] = {0,    0.0005, 0.001, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.015, 0.02, 0.03,
                               0.04, 0.05,   0.07,  0.1,   0.14,  0.2,   0.3,    0.4,  0.6,   0.8,  1.0};

Capacity whole_below(double amount) { return static_cast<Capacity>(std::floor(amount + k_whole)); }

/// Whole numbers in these proportions that sum to `all`: rounded down, and those that lost most get one more.
std::vector<Capacity> apportioned(const std::vector<double>& parts, Capacity all) {
  const double sum = std::accumulate(parts.begin(), parts.end(), 0.0);
  std::vector<Capacity> whole;
  std::vector<double> lost;
  for (const double part : parts) {
    const double exact = part / sum * static_cast<double>(all);
    whole.push_back(whole_below(exact));
    lost.push_back(exact - static_cast<double>(whole.back()));
  }
  std::vector<std::size_t> order(parts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t i) { return lost[i]; });
  Capacity missing = all - std::accumulate(whole.begin(), whole.end(), Capacity{0});
  for (std::size_t i = 0; missing > 0; i = (i + 1) % order.size(), --missing) ++whole[order[i]];
  return whole;
}

/// Edges between hosts and how many of their trees spread; the others reduce.
struct Parted {
  std::vector<LogicalEdge> edges;
  std::vector<Capacity> spread;  // [edge]
};

class Rounding {
 public:
  Rounding(const Topology& topology, const AllreduceSolution& solution, int threads)
      : topology_(topology), solution_(solution), threads_(threads), bandwidths_(whole_bandwidths(topology)) {}

  /// Whether so many trees divide all of the solution.
  bool divides(Capacity trees) const {
    const double scale = static_cast<double>(trees) / solution_.rate;
    const auto is_whole = [&](double amount) {
      return std::abs(amount * scale - std::round(amount * scale)) < k_whole;
    };
    return std::ranges::all_of(solution_.roots, is_whole) &&
           std::ranges::all_of(
               solution_.pairs,
               [&](const auto& pair) { return is_whole(needed(pair.reduce)) && is_whole(needed(pair.spread)); }) &&
           std::ranges::all_of(solution_.ways, [&](const auto& way) { return is_whole(way.amount); });
  }

  /// The least time over the programme's, of those that are tried and are below `limit`, with which trees exist.
  std::optional<double> least_excess(Capacity trees, double limit, Parted& found) const {
    const std::vector<Capacity> roots = apportioned(solution_.roots, trees);
    for (const double excess : k_excess) {
      if (excess >= limit) break;
      if (std::optional<Parted> parted = part(roots, static_cast<double>(trees) / solution_.rate * (1 + excess))) {
        found = std::move(*parted);
        return excess;
      }
    }
    return std::nullopt;
  }

  Forest pack(Capacity trees, const Parted& parted) const {
    const std::vector<Capacity> roots = apportioned(solution_.roots, trees);
    Forest forest;
    forest.collective = Collective::allreduce;
    forest.chunks = static_cast<Chunk>(trees / topology_.hosts());
    for (const Capacity root : roots) forest.roots.push_back(static_cast<Chunk>(root));
    forest.out = packed_into(topology_, stage(parted, true), roots);
    forest.in = packed_into(topology_, stage(parted, false), roots);
    // What reduces was packed with pairs turned round; its routes are of pairs as they are.
    for (Route& route : forest.in.routes) std::swap(route.source, route.target);
    forest.seconds_per_byte = busiest(forest) / static_cast<double>(trees);
    return forest;
  }

 private:
  /// No link moves more than the whole vector in a stage, though the solution may give it more.
  double needed(double amount) const { return std::min(amount, solution_.rate); }

  /// Capacities for `per_unit` trees per unit of bandwidth, parted so that trees of these roots exist in both stages.
  std::optional<Parted> part(const std::vector<Capacity>& roots, double per_unit) const {
    const Capacity all = std::accumulate(roots.begin(), roots.end(), Capacity{0});
    // No link carries more than all trees of both stages between every two hosts.
    const double most = 2.0 * static_cast<double>(all) * topology_.hosts() * topology_.hosts();
    std::vector<Capacity> of_link;
    for (const Capacity bandwidth : bandwidths_.of_link)
      of_link.push_back(whole_below(std::min(static_cast<double>(bandwidth) * per_unit, most)));
    Parted parted{between_hosts(of_link, per_unit), {}};
    part_stages(parted, per_unit);
    return mend(parted, roots) ? std::optional<Parted>(std::move(parted)) : std::nullopt;
  }

  /// The network with its switches bypassed along the solution's ways, as far as there is room.
  std::vector<LogicalEdge> between_hosts(const std::vector<Capacity>& of_link, double per_unit) const {
    SplitNetwork network(topology_, of_link);
    const std::vector<Capacity> amounts = way_amounts(network, per_unit);
    for (std::size_t i = 0; i < amounts.size(); ++i) {
      const std::vector<NodeId>& nodes = solution_.ways[i].nodes;
      for (std::size_t hop = 1; hop + 1 < nodes.size() && amounts[i] > 0; ++hop)
        network.split(nodes[hop], {nodes.front(), nodes[hop + 1], amounts[i]});
    }
    for (NodeId relay = topology_.hosts(); relay < topology_.nodes(); ++relay) network.isolate(relay);
    return network.logical_edges();
  }

  /// [way] rounded down, then one more in turn as long as there is room, first where rounding took most.
  std::vector<Capacity> way_amounts(const SplitNetwork& network, double per_unit) const {
    std::map<std::pair<NodeId, NodeId>, Capacity> room;
    for (const CapacityEdge& edge : network.edges()) room[{edge.tail, edge.head}] = edge.capacity;
    std::vector<Capacity> amounts;
    std::vector<double> lost;
    const auto take = [&](const std::vector<NodeId>& nodes, Capacity wanted) {
      for (std::size_t hop = 0; hop + 1 < nodes.size(); ++hop)
        wanted = std::min(wanted, room[{nodes[hop], nodes[hop + 1]}]);
      for (std::size_t hop = 0; hop + 1 < nodes.size(); ++hop) room[{nodes[hop], nodes[hop + 1]}] -= wanted;
      return wanted;
    };
    for (const AllreduceSolution::Way& way : solution_.ways) {
      amounts.push_back(take(way.nodes, whole_below(way.amount * per_unit)));
      lost.push_back(way.amount * per_unit - static_cast<double>(amounts.back()));
    }
    std::vector<std::size_t> order(amounts.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t i) { return lost[i]; });
    for (bool more = true; more;) {
      more = false;
      for (const std::size_t i : order) {
        const Capacity taken = take(solution_.ways[i].nodes, 1);
        amounts[i] += taken;
        more = more || taken > 0;
      }
    }
    return amounts;
  }

  void part_stages(Parted& parted, double per_unit) const {
    std::map<std::pair<NodeId, NodeId>, const AllreduceSolution::Pair*> pair_of;
    for (const AllreduceSolution::Pair& pair : solution_.pairs) pair_of[{pair.tail, pair.head}] = &pair;
    for (const LogicalEdge& edge : parted.edges) {
      const auto found = pair_of.find({edge.tail, edge.head});
      const Capacity capacity = edge.capacity();
      const double spread = found == pair_of.end() ? 0 : needed(found->second->spread) * per_unit;
      const double reduce = found == pair_of.end() ? 0 : needed(found->second->reduce) * per_unit;
      // What neither needs is parted in their proportion.
      const double idle = std::max(0.0, static_cast<double>(capacity) - spread - reduce);
      const double wanted = spread + (spread + reduce > 0 ? idle * spread / (spread + reduce) : idle / 2);
      parted.spread.push_back(std::min(capacity, static_cast<Capacity>(std::llround(wanted))));
    }
  }

  /// Shifts trees of edges from one stage to the other until they exist in both.
  bool mend(Parted& parted, const std::vector<Capacity>& roots) const {
    constexpr int k_rounds = 12;
    for (int round = 0; round < k_rounds; ++round) {
      const bool spreads = mend_stage(parted, roots, true), reduces = mend_stage(parted, roots, false);
      if (spreads && reduces) return true;
    }
    return false;
  }

  /// Whether the stage lacks nothing. Otherwise its narrow cuts have got what they lack, as far as there is as much.
  bool mend_stage(Parted& parted, const std::vector<Capacity>& roots, bool spreads) const {
    const Capacity all = std::accumulate(roots.begin(), roots.end(), Capacity{0});
    std::vector<CapacityEdge> edges = capacities(parted, spreads);
    for (CapacityEdge& edge : edges) edge.capacity = std::min(edge.capacity, all);
    const std::vector<std::vector<bool>> cuts =
        violated_cuts({topology_.hosts(), topology_.hosts(), edges, roots}, threads_);
    for (const std::vector<bool>& inside : cuts) {
      Capacity lacking = 0;
      for (std::size_t host = 0; host < roots.size(); ++host)
        if (inside[host]) lacking += roots[host];
      std::vector<std::size_t> crossing;
      for (std::size_t i = 0; i < parted.edges.size(); ++i) {
        const auto tail = static_cast<std::size_t>(spreads ? parted.edges[i].tail : parted.edges[i].head);
        const auto head = static_cast<std::size_t>(spreads ? parted.edges[i].head : parted.edges[i].tail);
        if (!inside[tail] || inside[head]) continue;
        lacking -= amount(parted, i, spreads);
        crossing.push_back(i);
      }
      // From edges of which the other stage has most, one by one.
      while (lacking > 0 && !crossing.empty()) {
        const auto most =
            std::ranges::max_element(crossing, {}, [&](std::size_t i) { return amount(parted, i, !spreads); });
        if (amount(parted, *most, !spreads) == 0) return false;
        parted.spread[*most] += spreads ? 1 : -1;
        --lacking;
      }
    }
    return cuts.empty();
  }

  static Capacity amount(const Parted& parted, std::size_t edge, bool spreads) {
    return spreads ? parted.spread[edge] : parted.edges[edge].capacity() - parted.spread[edge];
  }

  static std::vector<CapacityEdge> capacities(const Parted& parted, bool spreads) {
    std::vector<CapacityEdge> edges;
    for (std::size_t i = 0; i < parted.edges.size(); ++i) {
      const LogicalEdge& edge = parted.edges[i];
      if (amount(parted, i, spreads) == 0) continue;
      edges.push_back({spreads ? edge.tail : edge.head, spreads ? edge.head : edge.tail, amount(parted, i, spreads)});
    }
    return edges;
  }

  /// The first routes of an edge spread, the others reduce. Pairs that reduce are turned round.
  static std::vector<LogicalEdge> stage(const Parted& parted, bool spreads) {
    std::vector<LogicalEdge> edges;
    for (std::size_t i = 0; i < parted.edges.size(); ++i) {
      const LogicalEdge& whole = parted.edges[i];
      LogicalEdge edge{spreads ? whole.tail : whole.head, spreads ? whole.head : whole.tail, {}};
      Capacity before = 0;
      for (const RoutedAmount& route : whole.routes) {
        const Capacity spread = std::clamp<Capacity>(parted.spread[i] - before, 0, route.amount);
        const Capacity taken = spreads ? spread : route.amount - spread;
        before += route.amount;
        if (taken > 0) edge.routes.push_back({route.links, taken});
      }
      if (!edge.routes.empty()) edges.push_back(std::move(edge));
    }
    std::ranges::sort(edges, {}, [](const LogicalEdge& edge) { return std::pair(edge.tail, edge.head); });
    return edges;
  }

  /// The largest of trees over bandwidth (in bytes per second), over all links.
  double busiest(const Forest& forest) const {
    std::vector<double> trees(topology_.links().size(), 0);
    for (const Packing* packing : {&forest.out, &forest.in})
      for (const TreePart& part : packing->parts)
        for (const LinkId link : packing->routes[static_cast<std::size_t>(part.route)].links)
          trees[static_cast<std::size_t>(link)] += part.chunks;
    double most = 0;
    for (std::size_t link = 0; link < trees.size(); ++link)
      most = std::max(most, trees[link] / topology_.links()[link].bandwidth);
    return most;
  }

  const Topology& topology_;
  const AllreduceSolution& solution_;
  int threads_;
  Bandwidths bandwidths_;
};

/// None where no number that is tried has trees that take at most twice the programme's time.
std::optional<Forest> by_lp(const Topology& topology, const AllreduceSolution& solution, const ForestOptions& options) {
  const Rounding rounding(topology, solution, options.threads);
  const Capacity hosts = topology.hosts();
  Parted best;
  Capacity best_trees = 0;
  double least = std::numeric_limits<double>::infinity();
  const auto attempt = [&](std::int64_t trees) {
    Parted parted;
    const std::optional<double> excess = rounding.least_excess(hosts * trees, least, parted);
    if (!excess) return;
    least = *excess;
    best = std::move(parted);
    best_trees = hosts * trees;
  };
  const std::int64_t most = options.few ? k_few_trees : k_most_trees_default;
  if (options.trees == 0) {
    for (std::int64_t trees = 1; trees <= most && least > 0; ++trees)
      if (rounding.divides(hosts * trees)) attempt(trees);
  }
  for (const std::int64_t trees : options.trees == 0 ? tree_numbers(most) : std::vector{options.trees})
    if (least > k_loss_default) attempt(trees);
  if (best_trees == 0) return std::nullopt;
  return rounding.pack(best_trees, best);
}

}  // namespace

Forest pack_allreduce(const Topology& topology, ForestOptions options) {
  options.collective = Collective::allreduce;
  expect_chunks(topology, options.trees);
  if (allreduce_columns(topology) > k_most_allreduce_columns) return pack_forest(topology, options);
  const AllreduceSolution solution = solve_allreduce(topology);
  const double bound = 1 / (solution.rate * solution.unit);
  std::optional<Forest> pair;
  std::string refusal;
  try {
    pair = pack_forest(topology, options);
  } catch (const Error& error) {
    refusal = error.what();
  }
  if (pair && pair->seconds_per_byte <= bound * (1 + k_loss_default)) return *pair;
  std::optional<Forest> better = by_lp(topology, solution, options);
  if (!pair && !better) throw Error(refusal);
  return !better || (pair && pair->seconds_per_byte <= better->seconds_per_byte) ? *pair : *better;
}

}  // namespace colltopo
