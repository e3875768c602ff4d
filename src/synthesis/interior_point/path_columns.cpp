// Columns by pair: linked lists, so that paths can be forgotten in the middle of a solve.
#include "synthesis/interior_point/path_columns.h"

#include <algorithm>

namespace colltopo::synthesis {

PathColumns::PathColumns(const FlowInstance& instance) : instance_(instance), targets_(instance.topology->hosts() - 1) {
  const std::size_t pairs = instance.sources.size() * static_cast<std::size_t>(targets_);
  first_.assign(pairs, -1);
  paths_of_.assign(pairs, 0);
}

PairId PathColumns::pair(std::size_t source, NodeId target) const {
  return static_cast<PairId>(source) * targets_ + target - (target > instance_.sources[source] ? 1 : 0);
}

NodeId PathColumns::target_of(PairId pair) const {
  const NodeId place = pair % targets_;
  return place + (place >= instance_.sources[source_of(pair)] ? 1 : 0);
}

PathId PathColumns::add(PairId pair, std::span<const LinkId> links) {
  const auto path = static_cast<PathId>(next_.size());
  links_.insert(links_.end(), links.begin(), links.end());
  for (const LinkId link : links) classes_.push_back(instance_.link_class[static_cast<std::size_t>(link)]);
  std::sort(classes_.begin() + static_cast<std::ptrdiff_t>(begin_.back()), classes_.end());
  begin_.push_back(links_.size());
  next_.push_back(first(pair));
  pair_of_.push_back(pair);
  first_[static_cast<std::size_t>(pair)] = path;
  ++paths_of_[static_cast<std::size_t>(pair)];
  return path;
}

}  // namespace colltopo::synthesis
