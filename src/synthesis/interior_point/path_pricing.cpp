// One tree of shortest paths per source.
#include "synthesis/interior_point/path_pricing.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "base/parallel.h"

namespace colltopo::synthesis {

namespace {

// A path enters when its length is below the potential of its pair plus this part of what the shortest column lies
// above it. Nothing need enter above the potential, but a path that enters before it is missed disturbs nothing.
constexpr double k_eager = 0.5;

}  // namespace

PathPricing::PathPricing(const FlowInstance& instance, const PathColumns& columns, int threads)
    : instance_(instance),
      columns_(columns),
      threads_(threads),
      arcs_(instance),
      trees_(worker_count(threads), ShortestPathTree(arcs_)),
      orders_(instance.sources.size()),
      found_by_source_(instance.sources.size()) {}

double PathPricing::limit(PairId pair) const {
  double shortest = std::numeric_limits<double>::infinity();
  double potential = shortest;
  for (PathId p = columns_.first(pair); p >= 0; p = columns_.next(p)) {
    const double length = columns_.length(p, class_lengths_);
    shortest = std::min(shortest, length);
    potential = std::min(potential, length - reduced_[static_cast<std::size_t>(p)]);
  }
  if (columns_.paths_of(pair) == 0) return shortest;
  return std::min(shortest * (1 - saving_), potential + k_eager * (shortest - potential));
}

double PathPricing::price_source(std::size_t source, ShortestPathTree& tree) {
  tree.grow(instance_.sources[source], class_lengths_, orders_[source]);
  std::vector<Found>& found = found_by_source_[source];
  found.clear();
  double sum = 0;
  for (NodeId target = 0; target < instance_.topology->hosts(); ++target) {
    if (target == instance_.sources[source]) continue;
    sum += tree.distance(target);
    const PairId pair = columns_.pair(source, target);
    if (tree.distance(target) >= limit(pair)) continue;
    const std::span<const LinkId> links = tree.path(target);
    found.push_back({pair, {links.begin(), links.end()}});
  }
  return sum * instance_.multiplicity[source];
}

double PathPricing::price(std::span<const double> class_lengths, std::span<const double> reduced, double saving) {
  class_lengths_ = class_lengths;
  reduced_ = reduced;
  saving_ = saving;
  std::vector<double> sums(instance_.sources.size());
  for_each_index(sums.size(), threads_,
                 [&](std::size_t source, unsigned worker) { sums[source] = price_source(source, trees_[worker]); });
  double sum = 0;
  found_.clear();
  for (std::size_t source = 0; source < sums.size(); ++source) {
    sum += sums[source];
    std::move(found_by_source_[source].begin(), found_by_source_[source].end(), std::back_inserter(found_));
  }
  return sum;
}

}  // namespace colltopo::synthesis
