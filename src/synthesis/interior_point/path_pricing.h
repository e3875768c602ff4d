// Shortest paths of all pairs under lengths of classes: the lower bound, and the paths that columns lack.
#pragma once

#include <span>
#include <vector>

#include "synthesis/interior_point/path_columns.h"
#include "synthesis/sweep/shortest_path_tree.h"

namespace colltopo::synthesis {

class PathPricing {
 public:
  struct Found {
    PairId pair;
    std::vector<LinkId> links;
  };

  /// Threads: 0 = all.
  PathPricing(const FlowInstance& instance, const PathColumns& columns, int threads);

  /// The sum over pairs of demand times distance; with lengths whose sum of length * capacity is 1, a lower bound on
  /// the time. Finds the shortest path of every pair that has no column as short, less the part `saving` of its length,
  /// unless it is far from the pair's potential (length less `reduced`, [path]). The same for any number of threads.
  double price(std::span<const double> class_lengths, std::span<const double> reduced, double saving);
  /// In increasing order of pairs.
  std::span<const Found> found() const { return found_; }

 private:
  double price_source(std::size_t source, ShortestPathTree& tree);
  double limit(PairId pair) const;

  const FlowInstance& instance_;
  const PathColumns& columns_;
  int threads_;
  Arcs arcs_;
  std::vector<ShortestPathTree> trees_;      // [worker]
  std::vector<std::vector<NodeId>> orders_;  // [source] in which the last tree was grown
  std::span<const double> class_lengths_, reduced_;
  double saving_ = 0;
  std::vector<std::vector<Found>> found_by_source_;
  std::vector<Found> found_;
};

}  // namespace colltopo::synthesis
