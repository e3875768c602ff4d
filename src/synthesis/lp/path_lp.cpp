// The linear programme of pMCF ((21)-(24) of Basu et al.) as unit demand and smallest largest load, which Clp answers
// more accurately than the largest demand under unit capacities.
#include <algorithm>

#include "lp/model.h"
#include "synthesis/methods/mcf_path.h"

namespace colltopo::synthesis {

namespace {

/// One column per path and the largest load over capacity; a row per pair (its shares sum to 1), then one per link.
lp::Model path_lp(const Topology& topology, const Routing& paths) {
  lp::Model model;
  std::vector<std::vector<lp::Term>> over(topology.links().size());
  std::vector<lp::Term> of_pair;
  for (std::size_t i = 0; i < paths.paths(); ++i) {
    const WeightedPath path = paths.path(i);
    const lp::Column share = model.column(0);
    for (const LinkId link : path.links) over[static_cast<std::size_t>(link)].push_back({share, 1});
    of_pair.push_back({share, 1});
    if (i + 1 < paths.paths()) {
      const WeightedPath next = paths.path(i + 1);
      if (next.source == path.source && next.target == path.target) continue;
    }
    model.row(1, 1, of_pair);
    of_pair.clear();
  }
  const std::vector<double> capacity = capacities(topology);
  const lp::Column time = model.column(1);
  for (std::size_t link = 0; link < over.size(); ++link) {
    over[link].push_back({time, -capacity[link]});
    model.row(-lp::k_infinity, 0, over[link]);
  }
  return model;
}

/// The paths with the shares of a point, made to sum to 1; shares left by rounding go.
Routing with_shares(const Routing& paths, std::span<const double> shares) {
  Routing routing(paths.hosts());
  for (std::size_t first = 0; first < paths.paths();) {
    double sum = 0;
    std::size_t last = first;
    for (; last < paths.paths(); ++last) {
      if (paths.path(last).source != paths.path(first).source || paths.path(last).target != paths.path(first).target)
        break;
      if (shares[last] > k_least_share) sum += shares[last];
    }
    for (; first < last; ++first)
      if (const WeightedPath path = paths.path(first); shares[first] > k_least_share)
        routing.add(path.source, path.target, shares[first] / sum, path.links);
  }
  return routing;
}

}  // namespace

Synthesis best_weights_exactly(const Topology& topology, const Routing& paths, const SynthesisOptions& options) {
  const lp::Model model = path_lp(topology, paths);
  lp::SolveOptions how;
  how.seconds = options.seconds;
  const lp::Solution solution = model.solve(how);
  if (solution.status != lp::Status::optimal) return best_weights(topology, paths, options);

  Synthesis synthesis;
  synthesis.routing = with_shares(paths, solution.columns);
  synthesis.bound.time = all_to_all_time(topology, link_loads(topology, synthesis.routing));
  const std::size_t links = topology.links().size();
  for (std::size_t row = model.rows() - links; row < model.rows(); ++row)
    synthesis.bound.lengths.push_back(std::max(0.0, -solution.row_prices[row]));
  synthesis.bound.time_lower = time_lower_bound(topology, synthesis.bound.lengths, options.threads);
  synthesis.time_lower_of_paths = time_lower_of_paths(topology, paths, synthesis.bound.lengths);
  return synthesis;
}

}  // namespace colltopo::synthesis
