// Algorithm 3, from below instead of by bisection: for the cuts found so far there is a least U; if trees do not exist
// with it, minimum cuts are new ones. It ends at the least U for all cuts, which is a whole number over a bandwidth.
#include <algorithm>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "colltopo/error.h"
#include "forest/fixed_trees.h"
#include "forest/spanning_test.h"

namespace colltopo {

namespace {

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
Ratio around_hosts(const Topology& topology, const Bandwidths& bandwidths, std::int64_t trees) {
  Ratio ratio{};
  for (NodeId host = 0; host < topology.hosts(); ++host) {
    Widths entering;
    for (const LinkId link : topology.links_in(host)) ++entering[bandwidths.of_link[static_cast<std::size_t>(link)]];
    const Ratio least = least_ratio(topology.name(), entering, Wide{topology.hosts() - 1} * trees);
    if (ratio.numerator == 0 || is_less(ratio, least)) ratio = least;
  }
  return ratio;
}

}  // namespace

std::vector<Capacity> trees_per_link(const Topology& topology, const Bandwidths& bandwidths, const Ratio& ratio,
                                     std::int64_t trees) {
  // No link needs more than all trees, each once.
  const Wide most = ratio_of(topology.name(), Wide{topology.hosts()} * trees, 1).numerator;
  std::vector<Capacity> of_link;
  of_link.reserve(bandwidths.of_link.size());
  for (const Capacity bandwidth : bandwidths.of_link)
    of_link.push_back(static_cast<Capacity>(std::min(floor_of(ratio, bandwidth), most)));
  return of_link;
}

FixedForest fixed_forest(const Topology& topology, std::int64_t trees, int threads) {
  if (trees < 1) throw Error(fmt::format("{}: {} trees per host; expected 1 or more", topology.name(), trees));
  const Bandwidths bandwidths = whole_bandwidths(topology);
  const std::vector<Capacity> roots(static_cast<std::size_t>(topology.hosts()), trees);
  Ratio ratio = around_hosts(topology, bandwidths, trees);
  for (;;) {
    const std::vector<CapacityEdge> edges = joined_edges(topology, trees_per_link(topology, bandwidths, ratio, trees));
    const std::vector<std::vector<bool>> cuts =
        violated_cuts({topology.hosts(), topology.nodes(), edges, roots}, threads);
    if (cuts.empty()) break;
    for (const std::vector<bool>& inside : cuts) {
      const auto hosts_inside = std::count(inside.begin(), inside.begin() + topology.hosts(), true);
      const Ratio least =
          least_ratio(topology.name(), widths_out_of(topology, bandwidths, inside), Wide{hosts_inside} * trees);
      if (is_less(ratio, least)) ratio = least;
    }
  }
  return {topology.hosts(), bandwidths.unit, trees, ratio};
}

}  // namespace colltopo
