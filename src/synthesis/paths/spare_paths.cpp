// Ways that a routing does not use.
#include <algorithm>

#include "colltopo/synthesis.h"
#include "synthesis/paths/candidate_paths.h"

namespace colltopo {

Routing with_spare_paths(const Topology& topology, const Routing& routing, const SynthesisOptions& options) {
  const Routing spare = synthesis::candidate_paths(topology, options).paths;
  Routing all(routing.hosts());
  const auto pair_of = [](const WeightedPath& path) { return std::pair(path.source, path.target); };
  for (std::size_t i = 0, next = 0; i < spare.paths();) {
    const std::pair pair = pair_of(spare.path(i));
    const std::size_t first = next;
    for (; next < routing.paths() && pair_of(routing.path(next)) == pair; ++next) {
      const WeightedPath path = routing.path(next);
      all.add(path.source, path.target, path.weight, path.links);
    }
    for (; i < spare.paths() && pair_of(spare.path(i)) == pair; ++i) {
      const WeightedPath path = spare.path(i);
      bool is_used = false;
      for (std::size_t j = first; j < next; ++j)
        is_used = is_used || std::ranges::equal(routing.path(j).links, path.links);
      if (!is_used) all.add(path.source, path.target, 0, path.links);
    }
  }
  return all;
}

}  // namespace colltopo
