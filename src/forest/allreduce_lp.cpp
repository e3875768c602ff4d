// The programme by its cuts: that a flow of all the vector reaches every host from the roots means that no set of
// hosts, but for all of them, has less bandwidth out than its hosts are roots of; and likewise into it for the
// reduction. There are 2^hosts such sets, of which a few dozen matter: each round's solution is asked by maximum flows
// for those that it violates.
#include "forest/allreduce_lp.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "colltopo/allreduce_bound.h"
#include "colltopo/error.h"
#include "colltopo/forest.h"
#include "forest/max_flow.h"
#include "forest/units.h"
#include "lp/model.h"

namespace colltopo {

namespace {

constexpr double k_tolerance = 1e-9;

/// Of the narrowest cut between hosts, in units. The whole vector crosses each cut once, in one stage or the other, so
/// the rate is at most this; and it is half of it or more, because one root can have half of every link for each stage.
double narrowest_cut(const Topology& topology) {
  return std::min(1 / bcast_optimum(topology, 0).inverse_x.value(),
                  1 / bcast_optimum(transposed(topology), 0).inverse_x.value());
}

struct Pair {
  NodeId tail = 0, head = 0;
  lp::Column reduce = 0, spread = 0;  // bandwidth for each stage
};

/// What of an edge carries what comes from a host, through switches.
struct Flow {
  NodeId tail = 0, head = 0;
  lp::Column amount = 0;
};

/// Bandwidths are over that of the narrowest cut: the solver's tolerances are absolute, and no cut is below 1 so.
class AllreduceLp {
 public:
  explicit AllreduceLp(const Topology& topology) : hosts_(topology.hosts()) {
    const Bandwidths bandwidths = whole_bandwidths(topology);
    const std::vector<CapacityEdge> edges = joined_edges(topology, bandwidths.of_link);
    narrowest_ = narrowest_cut(topology);
    unit_ = bandwidths.unit;
    for (NodeId host = 0; host < hosts_; ++host) roots_.push_back(model_.column(-1));
    if (topology.nodes() == hosts_)
      add_links(edges);
    else
      add_pairs(topology, edges);
  }

  AllreduceSolution solve() {
    for (NodeId host = 0; host < hosts_; ++host) add_cut(std::set<NodeId>{host});
    for (int rounds = 1;; ++rounds) {
      const lp::Solution solution = model_.solve({.method = lp::Method::dual});
      if (solution.status != lp::Status::optimal)
        throw Error("the allreduce programme was not solved; expected an optimum");
      if (add_violated(solution.columns)) continue;
      AllreduceSolution found;
      found.rate = -solution.objective * narrowest_;
      found.unit = unit_;
      found.rounds = rounds;
      found.columns = model_.columns();
      found.rows = model_.rows();
      const auto amount = [&](lp::Column index) { return column(solution.columns, index) * narrowest_; };
      for (const lp::Column root : roots_) found.roots.push_back(amount(root));
      for (const Pair& pair : pairs_)
        found.pairs.push_back({pair.tail, pair.head, amount(pair.reduce), amount(pair.spread)});
      for (NodeId source = 0; source < static_cast<NodeId>(flows_.size()); ++source)
        add_ways(source, solution.columns, found.ways);
      return found;
    }
  }

 private:
  static double column(const std::vector<double>& columns, lp::Column index) {
    return std::max(0.0, columns[static_cast<std::size_t>(index)]);
  }

  /// Each stage moves the whole vector over a link at most.
  double capacity(const CapacityEdge& edge) const {
    return std::min(2.0, static_cast<double>(edge.capacity) / narrowest_);
  }

  Pair& add_pair(NodeId tail, NodeId head) {
    pairs_.push_back({tail, head, model_.column(0), model_.column(0)});
    return pairs_.back();
  }

  void add_links(const std::vector<CapacityEdge>& edges) {
    for (const CapacityEdge& edge : edges) {
      const Pair& pair = add_pair(edge.tail, edge.head);
      const lp::Term both[] = {{pair.reduce, 1}, {pair.spread, 1}};
      model_.row(-lp::k_infinity, capacity(edge), both);
    }
  }

  /// A flow from every host through switches alone; what of it ends at a host is the bandwidth of the pair.
  void add_pairs(const Topology& topology, const std::vector<CapacityEdge>& edges) {
    std::vector<std::vector<lp::Term>> load(edges.size());
    flows_.resize(static_cast<std::size_t>(hosts_));
    for (NodeId source = 0; source < hosts_; ++source) {
      std::vector<std::vector<lp::Term>> through(static_cast<std::size_t>(topology.nodes()));
      for (std::size_t i = 0; i < edges.size(); ++i) {
        const CapacityEdge& edge = edges[i];
        if (edge.head == source || (edge.tail < hosts_ && edge.tail != source)) continue;
        const lp::Column flow = model_.column(0);
        flows_[static_cast<std::size_t>(source)].push_back({edge.tail, edge.head, flow});
        load[i].push_back({flow, 1});
        through[static_cast<std::size_t>(edge.head)].push_back({flow, 1});
        if (edge.tail != source) through[static_cast<std::size_t>(edge.tail)].push_back({flow, -1});
      }
      for (NodeId node = 0; node < topology.nodes(); ++node) {
        std::vector<lp::Term>& terms = through[static_cast<std::size_t>(node)];
        if (terms.empty()) continue;
        if (node < hosts_) {
          const Pair& pair = add_pair(source, node);
          terms.push_back({pair.reduce, -1});
          terms.push_back({pair.spread, -1});
        }
        model_.row(0, lp::k_infinity, terms);
      }
    }
    for (std::size_t i = 0; i < edges.size(); ++i) model_.row(-lp::k_infinity, capacity(edges[i]), load[i]);
  }

  /// Both stages' rows of a set of hosts; the same set is never violated again.
  void add_cut(const std::set<NodeId>& inside) {
    std::vector<lp::Term> out, in;
    for (const Pair& pair : pairs_) {
      const bool tail = inside.contains(pair.tail), head = inside.contains(pair.head);
      if (tail && !head) out.push_back({pair.spread, 1});
      if (head && !tail) in.push_back({pair.reduce, 1});
    }
    for (const NodeId host : inside) {
      out.push_back({roots_[static_cast<std::size_t>(host)], -1});
      in.push_back({roots_[static_cast<std::size_t>(host)], -1});
    }
    model_.row(0, lp::k_infinity, out);
    model_.row(0, lp::k_infinity, in);
  }

  /// For each stage and each host, the narrowest cut between the roots and the host. False when none is violated.
  bool add_violated(const std::vector<double>& columns) {
    std::set<std::set<NodeId>> violated;
    find_violated(columns, &Pair::spread, false, violated);
    find_violated(columns, &Pair::reduce, true, violated);
    bool added = false;
    for (const std::set<NodeId>& inside : violated) {
      if (!added_.insert(inside).second) continue;  // violated by rounding alone
      add_cut(inside);
      added = true;
    }
    return added;
  }

  void find_violated(const std::vector<double>& columns, lp::Column Pair::*stage, bool turned,
                     std::set<std::set<NodeId>>& violated) const {
    constexpr double k_units = 1e15;  // of bandwidth 1: rounding is far below the tolerance
    const NodeId source = hosts_;
    std::vector<CapacityEdge> edges;
    Capacity all = 0;
    for (const Pair& pair : pairs_) {
      const auto units = static_cast<Capacity>(std::llround(column(columns, pair.*stage) * k_units));
      edges.push_back({turned ? pair.head : pair.tail, turned ? pair.tail : pair.head, units});
    }
    for (NodeId host = 0; host < hosts_; ++host) {
      const auto units =
          static_cast<Capacity>(std::llround(column(columns, roots_[static_cast<std::size_t>(host)]) * k_units));
      edges.push_back({source, host, units});
      all += units;
    }
    MaxFlow flow(hosts_ + 1, edges);
    for (NodeId sink = 0; sink < hosts_; ++sink) {
      flow.clear();
      const Capacity reached = flow.push(source, sink, all);
      if (static_cast<double>(all - reached) <= k_tolerance * static_cast<double>(all)) continue;
      std::set<NodeId> inside;
      for (NodeId host = 0; host < hosts_; ++host)
        if (flow.is_reached(host)) inside.insert(host);
      violated.insert(std::move(inside));
    }
  }

  /// A host's flow along paths, shortest first.
  void add_ways(NodeId source, const std::vector<double>& columns, std::vector<AllreduceSolution::Way>& ways) const {
    constexpr double k_least = 1e-9;
    std::vector<Flow> flows = flows_[static_cast<std::size_t>(source)];
    std::vector<double> left;
    std::erase_if(flows, [&](const Flow& flow) { return column(columns, flow.amount) < k_least; });
    left.reserve(flows.size());
    for (const Flow& flow : flows) left.push_back(column(columns, flow.amount));
    for (;;) {
      std::map<NodeId, std::size_t> into{{source, flows.size()}};  // node -> the flow that it was reached by
      std::vector<NodeId> queue{source};
      NodeId end = -1;
      for (std::size_t next = 0; next < queue.size() && end < 0; ++next)
        for (std::size_t i = 0; i < flows.size() && end < 0; ++i) {
          if (flows[i].tail != queue[next] || left[i] < k_least || !into.emplace(flows[i].head, i).second) continue;
          queue.push_back(flows[i].head);
          if (flows[i].head < hosts_) end = flows[i].head;
        }
      if (end < 0) return;
      AllreduceSolution::Way way{{end}, std::numeric_limits<double>::infinity()};
      std::vector<std::size_t> taken;
      for (NodeId node = end; node != source; node = way.nodes.back()) {
        taken.push_back(into.at(node));
        way.amount = std::min(way.amount, left[taken.back()]);
        way.nodes.push_back(flows[taken.back()].tail);
      }
      for (const std::size_t flow : taken) left[flow] -= way.amount;
      std::ranges::reverse(way.nodes);
      way.amount *= narrowest_;
      ways.push_back(std::move(way));
    }
  }

  NodeId hosts_;
  double narrowest_ = 0;  // units of bandwidth: 1 in the programme
  double unit_ = 1;       // bytes per second
  lp::Model model_;
  std::vector<lp::Column> roots_;
  std::vector<Pair> pairs_;
  std::vector<std::vector<Flow>> flows_;  // [source], where there are switches
  std::set<std::set<NodeId>> added_;
};

}  // namespace

std::size_t allreduce_columns(const Topology& topology) {
  const auto hosts = static_cast<std::size_t>(topology.hosts()), links = topology.links().size();
  return topology.nodes() == topology.hosts() ? hosts + 2 * links : hosts + hosts * links + 2 * hosts * (hosts - 1);
}

AllreduceSolution solve_allreduce(const Topology& topology) {
  if (const std::size_t columns = allreduce_columns(topology); columns > k_most_allreduce_columns)
    throw Error(fmt::format("{}: the allreduce programme has up to {} columns; it is solved up to {}", topology.name(),
                            columns, k_most_allreduce_columns));
  return AllreduceLp(topology).solve();
}

AllreduceBound allreduce_bound(const Topology& topology) {
  const AllreduceSolution solution = solve_allreduce(topology);
  AllreduceBound bound{1 / (solution.rate * solution.unit), {}, solution.rounds, solution.columns, solution.rows};
  for (const double root : solution.roots) bound.shares.push_back(root / solution.rate);
  return bound;
}

}  // namespace colltopo
