// One round over the sources of an instance, in which every pair moves flow to its shorter paths.
//
// Gauss-Seidel: lengths follow every move at once. With several threads, batches of sources start from the same lengths
// and their changes are merged after each batch; about 250 batches to a sweep converge like single sources. The size of
// a batch depends on the instance alone, so the result is the same for any number of threads.
#pragma once

#include <functional>
#include <random>
#include <span>
#include <vector>

#include "synthesis/pair_step.h"
#include "synthesis/path_pool.h"
#include "synthesis/shortest_path_tree.h"

namespace colltopo {

class FlowSweep {
 public:
  FlowSweep(const FlowInstance& instance, int threads, std::uint32_t seed);

  LinkPotential& potential() { return potential_; }
  const std::vector<PathPool>& pools() const { return pools_; }

  /// Paths of a routing for a similar topology that exist here, with their loads; other pairs get theirs in a sweep.
  void start_from(const Routing& routing);
  /// Shortest paths under `class_lengths` (empty: under the lengths of the moment) join the pools, unused ones leave
  /// them. Returns the sum over pairs of multiplicity * distance.
  double sweep_with_new_paths(std::span<const double> class_lengths);
  /// Within the pools: a fraction of the time.
  void sweep_pools();
  /// The sum over pairs of multiplicity * distance under these lengths.
  double sum_of_distances(std::span<const double> class_lengths);
  /// Pools as a routing.
  Routing routing() const;

 private:
  struct Desk {  // what a thread works with
    ShortestPathTree tree;
    PairStep step;
    PathPool fresh;
    std::vector<Candidate> candidates;
  };

  void sweep(const std::function<void(std::size_t source, Desk& desk, LinkPotential& potential)>& visit);
  double renew_pool(std::size_t source, std::span<const double> class_lengths, Desk& desk, LinkPotential& potential);
  void balance_pool(std::size_t source, Desk& desk, LinkPotential& potential);

  const FlowInstance& instance_;
  Arcs arcs_;
  LinkPotential potential_;
  std::vector<PathPool> pools_;              // [source]
  std::vector<std::vector<NodeId>> orders_;  // [source] of ShortestPathTree
  std::vector<std::size_t> turns_;           // sources in the order of the next sweep
  std::vector<Desk> desks_;                  // [thread]
  std::vector<LinkPotential> copies_;        // [place in a batch]; none when batches are single sources
  std::mt19937 random_;
};

}  // namespace colltopo
