// The paths that a path-based solver knows, pair by pair: columns of the path formulation (Basu et al., 3.1.4).
//
// A pair is a source of the instance and another host; its demand is the multiplicity of the source. A path is seen as
// the classes of its links, sorted, a class as often as the path has links in it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "synthesis/sweep/flow_instance.h"

namespace colltopo::synthesis {

using PathId = std::int32_t;
using PairId = std::int32_t;

class PathColumns {
 public:
  explicit PathColumns(const FlowInstance& instance);

  PairId pairs() const { return static_cast<PairId>(first_.size()); }
  /// Of the source with this place in the instance.
  PairId pair(std::size_t source, NodeId target) const;
  std::size_t source_of(PairId pair) const { return static_cast<std::size_t>(pair / targets_); }
  NodeId target_of(PairId pair) const;
  double demand(PairId pair) const { return instance_.multiplicity[source_of(pair)]; }

  /// The paths of a pair: for (PathId p = columns.first(pair); p >= 0; p = columns.next(p)).
  PathId first(PairId pair) const { return first_[static_cast<std::size_t>(pair)]; }
  PathId next(PathId path) const { return next_[static_cast<std::size_t>(path)]; }
  int paths_of(PairId pair) const { return paths_of_[static_cast<std::size_t>(pair)]; }
  /// One more than the largest PathId.
  std::size_t size() const { return next_.size(); }

  PathId add(PairId pair, std::span<const LinkId> links);
  /// Forgets the paths for which `dropped` holds; at least one of the pair must stay.
  template <class Predicate>
  void drop(PairId pair, Predicate dropped);

  PairId pair_of(PathId path) const { return pair_of_[static_cast<std::size_t>(path)]; }
  std::span<const LinkId> links(PathId path) const { return of(links_, path); }
  std::span<const std::int32_t> classes(PathId path) const { return of(classes_, path); }
  double length(PathId path, std::span<const double> class_lengths) const {
    double sum = 0;
    for (const std::int32_t c : classes(path)) sum += class_lengths[static_cast<std::size_t>(c)];
    return sum;
  }

 private:
  template <class T>
  std::span<const T> of(const std::vector<T>& all, PathId path) const {
    const std::size_t begin = begin_[static_cast<std::size_t>(path)];
    return std::span(all).subspan(begin, begin_[static_cast<std::size_t>(path) + 1] - begin);
  }

  const FlowInstance& instance_;
  PairId targets_ = 0;                 // per source
  std::vector<PathId> first_;          // [pair]
  std::vector<int> paths_of_;          // [pair]
  std::vector<PathId> next_;           // [path]
  std::vector<PairId> pair_of_;        // [path]
  std::vector<std::size_t> begin_{0};  // [path] into the two below, and the end
  std::vector<LinkId> links_;
  std::vector<std::int32_t> classes_;
};

template <class Predicate>
void PathColumns::drop(PairId pair, Predicate dropped) {
  PathId* at = &first_[static_cast<std::size_t>(pair)];
  while (*at >= 0) {
    PathId& following = next_[static_cast<std::size_t>(*at)];
    if (!dropped(*at)) {
      at = &following;
      continue;
    }
    *at = following;
    --paths_of_[static_cast<std::size_t>(pair)];
  }
}

}  // namespace colltopo::synthesis
