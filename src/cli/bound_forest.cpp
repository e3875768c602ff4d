// colltopo bound allgather | reduce_scatter | allreduce | bcast | reduce: the optimum of Zhao et al. (ForestColl),
// equation 1, and whether trees are known to reach it.
#include "cli/bound_forest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "colltopo/allreduce_bound.h"
#include "colltopo/forest.h"

namespace colltopo::cli {

namespace {

constexpr std::size_t k_most_names = 8;  // of people's text

std::vector<std::string> host_names(const Topology& topology, const std::vector<bool>& inside, bool wanted) {
  std::vector<std::string> names;
  for (NodeId host = 0; host < topology.hosts(); ++host)
    if (inside[static_cast<std::size_t>(host)] == wanted) names.push_back(topology.node_name(host));
  return names;
}

std::string some_of(std::vector<std::string> names) {
  const std::size_t all = names.size();
  if (all > k_most_names) names.resize(k_most_names);
  return fmt::format("{}{}", fmt::join(names, " "),
                     all > k_most_names ? fmt::format(" and {} more", all - k_most_names) : "");
}

/// Proposition 3.
std::string trees_text(const ForestOptimum& optimum, std::string_view root) {
  return fmt::format("{} trees of {}: the fewest that put a whole number on every link", optimum.trees, root);
}

/// Hosts over bandwidth as Zhao et al. write it, in GB/s.
double per_gigabyte(const ForestOptimum& optimum) { return optimum.seconds_per_byte() * 1e9; }

/// The time along trees, the roots' shares of the vector and both stages' shares of links being free.
void add_allreduce_lp(Report& report, const Topology& topology, double pair_s_per_byte) {
  report.add(
      "pair_time", pair_s_per_byte,
      fmt::format("{} for each byte: the best reduce_scatter, then the best allgather", seconds_text(pair_s_per_byte)));
  if (const std::size_t columns = allreduce_columns(topology); columns > k_most_allreduce_columns) {
    report.add(
        "trees_time", nullptr,
        fmt::format("not solved: the programme has up to {} columns, more than {}", columns, k_most_allreduce_columns));
    return;
  }
  const AllreduceBound bound = allreduce_bound(topology);
  const double ratio = pair_s_per_byte / bound.seconds_per_byte;
  report
      .add("trees_time", bound.seconds_per_byte,
           fmt::format("{} for each byte: no allreduce along trees is faster", seconds_text(bound.seconds_per_byte)))
      .add("pair_over_trees", ratio, fmt::format("{:.6g}{}", ratio, ratio < 1 + 1e-6 ? ": the pair is the best" : ""))
      .add_hidden("shares", bound.shares);
}

/// `network`: the one whose optimum it is, with links turned round for a reduction.
std::string method_of(const Topology& network, bool reduction, std::string_view what) {
  NodeId greedy = 0;
  if (is_attained(network, &greedy)) return fmt::format("exact: {}, and trees reach it", what);
  return fmt::format("bound: {}; switch {} {}, so trees may not reach it", what, network.node_name(greedy),
                     reduction ? "takes in more than it lets out" : "lets out more than it takes in");
}

std::string_view way(const ForestOptimum& optimum, bool reduction) {
  const bool one = optimum.roots_inside == 1;
  if (reduction) return one ? "gets what the others add" : "get what the others add";
  return one ? "sends to the others" : "send to the others";
}

void add_cut(Report& report, const Topology& topology, const ForestOptimum& optimum, bool reduction) {
  const std::vector<std::string> inside = host_names(topology, optimum.inside, true);
  const std::vector<std::string> outside = host_names(topology, optimum.inside, false);
  const double bandwidth = static_cast<double>(optimum.bandwidth_out) * optimum.unit;
  report
      .add("reason", fmt::format("{} of {} {} {} over {:.6g} GB/s", optimum.roots_inside, optimum.roots,
                                 optimum.roots == 1 ? "root" : "hosts", way(optimum, reduction), bandwidth / 1e9))
      .add("cut", inside, fmt::format("between {} and {}", some_of(inside), some_of(outside)));
}

}  // namespace

void bound_of_root(Collective collective, const Topology& topology, NodeId root, const Session& session) {
  const bool reduction = reduces(collective);
  const Topology network = reduction ? transposed(topology) : topology;
  const ForestOptimum optimum = bcast_optimum(network, root);
  const double seconds_per_byte = optimum.seconds_per_byte();
  Report report;
  report.add("collective", name(collective))
      .add("topology", topology.name())
      .add("root", root, topology.node_name(root))
      .add("time_lower_bound", seconds_per_byte,
           fmt::format("{} for each byte of the vector", seconds_text(seconds_per_byte)))
      .add("algbw_GBps", 1e-9 / seconds_per_byte, fmt::format("{:.6g} GB/s", 1e-9 / seconds_per_byte))
      .add("k", optimum.trees, trees_text(optimum, "the root"))
      .add("method",
           method_of(network, reduction, fmt::format("the least maximum flow {} the root", reduction ? "to" : "from")));
  add_cut(report, topology, optimum, reduction);
  report.print(session);
}

void bound_of_trees(Collective collective, const Topology& topology, int threads, const Session& session) {
  const bool reduction = reduces(collective);
  const Topology network = reduction ? transposed(topology) : topology;
  const ForestOptimum optimum = forest_optimum(network, threads);
  const double algbw = optimum.algorithmic_bandwidth() / 1e9;
  Report report;
  report.add("collective", name(collective))
      .add("topology", topology.name())
      .add("inverse_x", per_gigabyte(optimum),
           fmt::format("{}/{} hosts over {:.6g} GB/s: 1/x*", optimum.inverse_x.numerator, optimum.inverse_x.denominator,
                       optimum.unit / 1e9))
      .add("k", optimum.trees, trees_text(optimum, "each host"))
      .add("algbw_GBps", algbw, fmt::format("{:.6g} GB/s, all shards over the time", algbw))
      .add("time_lower_bound", optimum.seconds_per_byte(),
           fmt::format("{} for each byte of a shard", seconds_text(optimum.seconds_per_byte())))
      .add("method", method_of(network, reduction, "the narrowest of all cuts"));
  add_cut(report, topology, optimum, reduction);
  report.print(session);
}

void add_pair_of_trees(Report& report, const Topology& topology, int threads) {
  const ForestOptimum spread = forest_optimum(topology, threads);
  const ForestOptimum reduced = forest_optimum(transposed(topology), threads);
  const double seconds_per_byte = (spread.seconds_per_byte() + reduced.seconds_per_byte()) / topology.hosts();
  add_allreduce_lp(report, topology, seconds_per_byte);
  report
      .add("inverse_x", per_gigabyte(spread),
           fmt::format("{}/{} hosts over {:.6g} GB/s: 1/x* of the allgather", spread.inverse_x.numerator,
                       spread.inverse_x.denominator, spread.unit / 1e9))
      .add("k", spread.trees, trees_text(spread, "each host"))
      .add("algbw_GBps", 1e-9 / seconds_per_byte,
           fmt::format("{:.6g} GB/s by the best reduce_scatter and then the best allgather", 1e-9 / seconds_per_byte));
}

}  // namespace colltopo::cli
