// One round over the sources of an instance, in which every pair moves flow to its shorter paths.
//
// Gauss-Seidel: lengths follow every move at once. With several threads, batches of sources start from the same lengths
// and their changes are merged after each batch; about 250 batches to a sweep converge like single sources, nearly: see
// damp(). The size of a batch depends on the instance and the team alone, so the result is the same for any number of
// threads.
//
// The members of a team visit and keep the pools of every so many-th source each; what the visits of a batch do to the
// loads is summed over all members. Each batch has sources of every member, equally many as far as possible.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "base/random.h"
#include "synthesis/sweep/kept_flow.h"
#include "synthesis/sweep/pair_step.h"
#include "synthesis/sweep/path_pool.h"
#include "synthesis/sweep/shortest_path_tree.h"

namespace colltopo::synthesis {

class FlowSweep {
 public:
  /// Of `options`: threads, seed, team; all calls are collective over the team.
  FlowSweep(const FlowInstance& instance, const SynthesisOptions& options);

  LinkPotential& potential() { return potential_; }
  /// [source] those of other members' sources are empty.
  const std::vector<PathPool>& pools() const { return pools_; }

  /// Sources of a batch leave each other more room from now on: slower, but it settles. Nothing where all is one by
  /// one.
  void damp();
  /// Paths of a routing for a similar topology that exist here, with their loads; other pairs get theirs in a sweep.
  void start_from(const Routing& routing);
  /// Shortest paths under `class_lengths` (empty: under the lengths of the moment) join the pools, unused ones leave
  /// them. Returns the sum over pairs of demand * distance.
  double sweep_with_new_paths(std::span<const double> class_lengths);
  /// The same for the pairs alone that have paths over these classes, under the lengths of the moment.
  void sweep_over(const std::vector<bool>& classes);
  /// Within the pools: a fraction of the time.
  void sweep_pools();
  /// The sum over pairs of demand * distance under these lengths.
  double sum_of_distances(std::span<const double> class_lengths);
  /// Pools as a routing: on rank 0 of a team, which gets the pools of the others; the others get nothing.
  Routing routing();
  /// [class] of all members together, from the pools.
  std::vector<double> loads() const;
  /// What the flow in hand or, if that is better, a kept one comes to, with the lengths that prove the bound.
  FlowSolution solution(double time_lower, std::vector<double> class_lengths, Answer answer, KeptFlow* kept = nullptr);

 private:
  struct Desk {  // what a thread works with
    ShortestPathTree tree;
    PairStep step;
    PathPool fresh;
    std::vector<Candidate> candidates;
    std::uint64_t trees = 0;  // grown
  };

  void sweep(const std::function<void(std::size_t source, Desk& desk, LinkPotential& potential)>& visit);
  void grow(std::size_t source, std::span<const double> class_lengths, Desk& desk);
  double renew_pool(std::size_t source, std::span<const double> class_lengths, Desk& desk, LinkPotential& potential);
  void renew_pairs_over(const std::vector<bool>& classes, std::size_t source, Desk& desk, LinkPotential& potential);
  void renew_pair(std::size_t source, NodeId target, Desk& desk, LinkPotential& potential);
  void balance_pool(std::size_t source, Desk& desk, LinkPotential& potential);

  void gather_pools();

  const FlowInstance& instance_;
  Team* team_;
  Arcs arcs_;
  LinkPotential potential_;
  std::vector<PathPool> pools_;              // [source]
  std::vector<std::vector<NodeId>> orders_;  // [source] of ShortestPathTree
  std::vector<std::size_t> turns_;           // own sources in the order of the next sweep
  std::size_t most_turns_ = 0;               // of any member
  std::vector<Desk> desks_;                  // [thread]
  std::vector<LinkPotential> copies_;        // [place in a batch]; none when batches are single sources
  double companions_ = 1;                    // of a source that does what a source of the same batch does
  std::vector<double> changes_;              // [class] of the loads in a batch
  Lots random_{1};
};

}  // namespace colltopo::synthesis
