// Algorithm 3, from below instead of by bisection: for the cuts found so far there is a least U; if trees do not exist
// with it, minimum cuts are new ones. It ends at the least U for all cuts, which is a whole number over a bandwidth.
#include <algorithm>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "colltopo/error.h"
#include "forest/parts.h"
#include "forest/spanning_test.h"

namespace colltopo {

namespace {

constexpr std::int64_t k_most_trees = std::int64_t{1} << 60;  // of all roots

/// Bandwidths of the links out of a set: how many there are of each.
using Widths = std::map<Capacity, std::int64_t>;

Widths widths_out_of(const Topology& topology, const Bandwidths& bandwidths, const std::vector<bool>& inside) {
  Widths widths;
  for (std::size_t link = 0; link < bandwidths.of_link.size(); ++link)
    if (inside[static_cast<std::size_t>(topology.links()[link].tail)] &&
        !inside[static_cast<std::size_t>(topology.links()[link].head)])
      ++widths[bandwidths.of_link[link]];
  return widths;
}

Wide floor_of(const Ratio& ratio, Capacity bandwidth) { return Wide{bandwidth} * ratio.numerator / ratio.denominator; }

/// The least U with which links of these widths carry `trees`: beginning with no rounding, and then from one U at which
/// a link gains a tree to the next.
Ratio least_ratio(const std::string& name, const Widths& widths, Wide trees) {
  Wide all = 0;
  for (const auto& [width, count] : widths) all += Wide{width} * count;
  Ratio ratio = ratio_of(name, trees, all);
  for (;;) {
    Wide carried = 0;
    for (const auto& [width, count] : widths) carried += floor_of(ratio, width) * count;
    if (carried >= trees) return ratio;
    Ratio next{};
    for (const auto& [width, count] : widths) {
      const Ratio step = ratio_of(name, floor_of(ratio, width) + 1, width);
      if (next.numerator == 0 || is_less(step, next)) next = step;
    }
    ratio = next;
  }
}

/// The least U that the cuts around single hosts allow.
Ratio around_hosts(const Topology& topology, const Bandwidths& bandwidths, std::span<const Capacity> roots,
                   Capacity all_trees) {
  Ratio ratio{};
  for (NodeId host = 0; host < topology.hosts(); ++host) {
    const Capacity needed = all_trees - roots[static_cast<std::size_t>(host)];
    if (needed == 0) continue;
    Widths entering;
    for (const LinkId link : topology.links_in(host)) ++entering[bandwidths.of_link[static_cast<std::size_t>(link)]];
    const Ratio least = least_ratio(topology.name(), entering, needed);
    if (ratio.numerator == 0 || is_less(ratio, least)) ratio = least;
  }
  return ratio;
}

FixedForest fixed(const Topology& topology, std::vector<Capacity> roots, std::int64_t trees, int threads) {
  if (trees < 1) throw Error(fmt::format("{}: {} trees per root; expected 1 or more", topology.name(), trees));
  if (trees > k_most_trees / topology.hosts())
    throw Error(fmt::format("{}: {} trees per root; expected {} at most", topology.name(), trees,
                            k_most_trees / topology.hosts()));
  const Bandwidths bandwidths = whole_bandwidths(topology);
  const auto rooting = static_cast<NodeId>(std::ranges::count_if(roots, [](Capacity root) { return root > 0; }));
  return {rooting, bandwidths.unit, trees, least_capacity(topology, bandwidths, roots, threads)};
}

}  // namespace

std::vector<Capacity> trees_per_link(const std::string& name_for_errors, const Bandwidths& bandwidths,
                                     const Ratio& ratio, Capacity all_trees) {
  const Wide most = ratio_of(name_for_errors, all_trees, 1).numerator;  // no link needs more than all, each once
  std::vector<Capacity> of_link;
  of_link.reserve(bandwidths.of_link.size());
  for (const Capacity bandwidth : bandwidths.of_link)
    of_link.push_back(static_cast<Capacity>(std::min(floor_of(ratio, bandwidth), most)));
  return of_link;
}

Ratio least_capacity(const Topology& topology, const Bandwidths& bandwidths, std::span<const Capacity> roots,
                     int threads) {
  const Capacity all = std::accumulate(roots.begin(), roots.end(), Capacity{0});
  Ratio ratio = around_hosts(topology, bandwidths, roots, all);
  for (;;) {
    const std::vector<CapacityEdge> edges =
        joined_edges(topology, trees_per_link(topology.name(), bandwidths, ratio, all));
    const std::vector<std::vector<bool>> cuts =
        violated_cuts({topology.hosts(), topology.nodes(), edges, roots}, threads);
    if (cuts.empty()) return ratio;
    for (const std::vector<bool>& inside : cuts) {
      Wide needed = 0;
      for (std::size_t host = 0; host < roots.size(); ++host)
        if (inside[host]) needed += roots[host];
      const Ratio least = least_ratio(topology.name(), widths_out_of(topology, bandwidths, inside), needed);
      if (is_less(ratio, least)) ratio = least;
    }
  }
}

FixedForest fixed_forest(const Topology& topology, std::int64_t trees, int threads) {
  return fixed(topology, std::vector<Capacity>(static_cast<std::size_t>(topology.hosts()), trees), trees, threads);
}

FixedForest fixed_bcast(const Topology& topology, NodeId root, std::int64_t trees, int threads) {
  expect_root(topology, root);
  std::vector<Capacity> roots(static_cast<std::size_t>(topology.hosts()), 0);
  roots[static_cast<std::size_t>(root)] = trees;
  return fixed(topology, std::move(roots), trees, threads);
}

}  // namespace colltopo
