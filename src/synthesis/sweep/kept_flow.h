// The best flow that lies between the flows of all rounds so far.
//
// From round to round a flow bounces: sources move to the same free links, and its largest load is one or two percent
// above that of the mean of two such flows. Every mean of flows is a flow, and along the line from one to another the
// largest load is convex, so the best mean of what is kept and a new flow is found by halving.
#pragma once

#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "synthesis/sweep/flow_instance.h"
#include "synthesis/sweep/path_pool.h"

namespace colltopo::synthesis {

class KeptFlow {
 public:
  /// Without paths: loads alone, for who wants no routing. Threads: 0 = all.
  KeptFlow(const FlowInstance& instance, Answer answer, int threads)
      : instance_(instance), answer_(answer), threads_(threads) {}

  /// Goes towards the flow of these paths, whose loads (of the whole team) are `loads`, as far as that lowers the
  /// largest load over capacity. The first one is kept as it is.
  void take(const std::vector<PathPool>& pools, std::vector<double> loads);

  /// The largest load over capacity; infinity: nothing is kept.
  double time() const { return time_; }
  const std::vector<double>& loads() const { return loads_; }
  /// [source] its paths, which are gone then; for a routing alone.
  std::vector<PathPool> release() { return std::move(pools_); }

 private:
  double time_at(double share, std::span<const double> loads) const;
  double best_share(std::span<const double> loads) const;
  void blend(const std::vector<PathPool>& pools, double share);

  const FlowInstance& instance_;
  Answer answer_;
  int threads_;
  double time_ = std::numeric_limits<double>::infinity();
  std::vector<double> loads_;    // [class]
  std::vector<PathPool> pools_;  // [source]
};

}  // namespace colltopo::synthesis
