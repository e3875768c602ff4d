// The programme by its cuts: that a flow of all the vector reaches every host from the roots means that no set of
// hosts, but for all of them, has less bandwidth out than its hosts are roots of; and likewise into it for the
// reduction. There are 2^hosts such sets, of which a few dozen matter: each round's solution is asked by maximum flows
// for those that it violates.
#include "colltopo/allreduce_bound.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "colltopo/error.h"
#include "colltopo/forest.h"
#include "forest/max_flow.h"
#include "forest/units.h"
#include "lp/model.h"

namespace colltopo {

namespace {

constexpr double k_tolerance = 1e-9;

struct Pair {
  NodeId tail = 0, head = 0;
  lp::Column reduce = 0, spread = 0;  // bandwidth for each stage
};

class Programme {
 public:
  explicit Programme(const Topology& topology) : hosts_(topology.hosts()) {
    const Bandwidths bandwidths = whole_bandwidths(topology);
    const std::vector<CapacityEdge> edges = joined_edges(topology, bandwidths.of_link);
    for (const CapacityEdge& edge : edges) largest_ = std::max(largest_, static_cast<double>(edge.capacity));
    bytes_per_second_ = largest_ * static_cast<double>(bandwidths.unit);
    for (NodeId host = 0; host < hosts_; ++host) roots_.push_back(model_.column(-1));
    if (topology.nodes() == hosts_)
      add_links(edges);
    else
      add_pairs(topology, edges);
  }

  AllreduceBound solve() {
    AllreduceBound bound;
    for (NodeId host = 0; host < hosts_; ++host) add_cut(std::set<NodeId>{host});
    while (true) {
      const lp::Solution solution = model_.solve({.method = lp::Method::dual});
      if (solution.status != lp::Status::optimal)
        throw Error("the allreduce programme was not solved; expected an optimum");
      ++bound.rounds;
      if (add_violated(solution.columns)) continue;
      const double rate = -solution.objective;
      bound.seconds_per_byte = 1 / (rate * bytes_per_second_);
      for (const lp::Column root : roots_) bound.shares.push_back(column(solution.columns, root) / rate);
      bound.columns = model_.columns();
      bound.rows = model_.rows();
      return bound;
    }
  }

 private:
  static double column(const std::vector<double>& columns, lp::Column index) {
    return std::max(0.0, columns[static_cast<std::size_t>(index)]);
  }

  Pair& add_pair(NodeId tail, NodeId head) {
    pairs_.push_back({tail, head, model_.column(0), model_.column(0)});
    return pairs_.back();
  }

  void add_links(const std::vector<CapacityEdge>& edges) {
    for (const CapacityEdge& edge : edges) {
      const Pair& pair = add_pair(edge.tail, edge.head);
      const lp::Term both[] = {{pair.reduce, 1}, {pair.spread, 1}};
      model_.row(-lp::k_infinity, static_cast<double>(edge.capacity) / largest_, both);
    }
  }

  /// A flow from every host through switches alone; what of it ends at a host is the bandwidth of the pair.
  void add_pairs(const Topology& topology, const std::vector<CapacityEdge>& edges) {
    std::vector<std::vector<lp::Term>> load(edges.size());
    for (NodeId source = 0; source < hosts_; ++source) {
      std::vector<std::vector<lp::Term>> through(static_cast<std::size_t>(topology.nodes()));
      for (std::size_t i = 0; i < edges.size(); ++i) {
        const CapacityEdge& edge = edges[i];
        if (edge.head == source || (edge.tail < hosts_ && edge.tail != source)) continue;
        const lp::Column flow = model_.column(0);
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
    for (std::size_t i = 0; i < edges.size(); ++i)
      model_.row(-lp::k_infinity, static_cast<double>(edges[i].capacity) / largest_, load[i]);
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

  NodeId hosts_;
  double largest_ = 0;  // units of bandwidth: 1 in the programme
  double bytes_per_second_ = 0;
  lp::Model model_;
  std::vector<lp::Column> roots_;
  std::vector<Pair> pairs_;
  std::set<std::set<NodeId>> added_;
};

}  // namespace

std::size_t allreduce_columns(const Topology& topology) {
  const auto hosts = static_cast<std::size_t>(topology.hosts()), links = topology.links().size();
  return topology.nodes() == topology.hosts() ? hosts + 2 * links : hosts + hosts * links + 2 * hosts * (hosts - 1);
}

AllreduceBound allreduce_bound(const Topology& topology) {
  if (const std::size_t columns = allreduce_columns(topology); columns > k_most_allreduce_columns)
    throw Error(fmt::format("{}: the allreduce programme has up to {} columns; it is solved up to {}", topology.name(),
                            columns, k_most_allreduce_columns));
  return Programme(topology).solve();
}

double bcast_seconds_per_byte(const Topology& topology, NodeId root) {
  const Bandwidths bandwidths = whole_bandwidths(topology);
  if (root < 0 || root >= topology.hosts())
    throw Error(fmt::format("root {}; expected a host of {}, 0..{}", root, topology.name(), topology.hosts() - 1));
  const std::vector<CapacityEdge> edges = joined_edges(topology, bandwidths.of_link);
  MaxFlow flow(topology.nodes(), edges);
  Capacity least = std::numeric_limits<Capacity>::max();
  for (NodeId host = 0; host < topology.hosts(); ++host) {
    if (host == root) continue;
    flow.clear();
    least = std::min(least, flow.push(root, host, least));
  }
  return 1 / (static_cast<double>(least) * static_cast<double>(bandwidths.unit));
}

}  // namespace colltopo
