// The best weights on paths of its own choice: a linear programme for few paths, sweeps for many.
#include "synthesis/methods/mcf_path.h"

#include <algorithm>

#include "synthesis/methods.h"
#include "synthesis/paths/candidate_paths.h"

namespace colltopo::synthesis {

double time_lower_of_paths(const Topology& topology, const Routing& paths, std::span<const double> lengths) {
  const std::vector<double> capacity = capacities(topology);
  double volume = 0, sum = 0, shortest = 0;
  for (std::size_t link = 0; link < lengths.size(); ++link) volume += lengths[link] * capacity[link];
  WeightedPath last;
  for (std::size_t i = 0; i < paths.paths(); ++i) {
    const WeightedPath path = paths.path(i);
    double length = 0;
    for (const LinkId link : path.links) length += lengths[static_cast<std::size_t>(link)];
    const bool same_pair = path.source == last.source && path.target == last.target;
    if (!same_pair) sum += shortest;
    shortest = same_pair ? std::min(shortest, length) : length;
    last = path;
  }
  return volume > 0 ? (sum + shortest) / volume : 0;
}

namespace {

Synthesis make_mcf_path(const Topology& topology, const SynthesisOptions& options) {
  constexpr std::size_t k_most_columns = 5000;  // about a second of Clp
  const CandidatePaths candidates = candidate_paths(topology, options);
  Synthesis synthesis = candidates.paths.paths() <= k_most_columns
                            ? best_weights_exactly(topology, candidates.paths, options)
                            : best_weights(topology, candidates.paths, options);
  synthesis.remark = candidates.remark();
  return synthesis;
}

}  // namespace

RoutingMethod mcf_path_method() {
  return {"mcf-path", "the best weights on disjoint, shortest or bounded paths (pMCF)", candidate_refusal,
          make_mcf_path};
}

}  // namespace colltopo::synthesis
