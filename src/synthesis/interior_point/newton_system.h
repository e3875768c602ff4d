// Newton's equations of the path interior point method, reduced to one row per class of links.
//
// A pair with one path has no choice and drops out; one with several adds their differences from the weighted mean
// path, so that what all have in common cancels exactly. Lengths that differ by a potential of the nodes are alike to
// all paths: near the optimum the matrix is singular to rounding in these directions, and a little of its own diagonal
// keeps it definite (the step along them is then shorter, the others do not change).
#pragma once

#include <vector>

#include "synthesis/interior_point/dense_system.h"
#include "synthesis/interior_point/path_columns.h"

namespace colltopo::synthesis {

/// Where the method stands. Flows of a pair sum to its demand, lengths times capacity sum to 1.
struct Iterate {
  std::vector<PairId> active;   // pairs with at least two paths, increasing
  std::vector<double> flow;     // [path] x
  std::vector<double> reduced;  // [path] z: length less the potential y of its pair; of active pairs alone
  std::vector<double> lengths;  // [class] l
  std::vector<double> slack;    // [class] s
  std::vector<double> loads;    // [class] by flow
  double top = 0;               // U: U * capacity - loads - slack tends to 0
};

struct Direction {
  std::vector<double> flow, reduced;   // [path]
  std::vector<double> slack, lengths;  // [class]
  double top = 0;
};

/// Longest steps within the positive region, at most 1.
struct Steps {
  double flow = 1;    // of flow, slack and top
  double length = 1;  // of lengths and reduced
};

class NewtonSystem {
 public:
  NewtonSystem(const FlowInstance& instance, const PathColumns& columns, int threads);

  /// False when rounding makes it indefinite even with a larger share of its diagonal.
  bool factor(const Iterate& now);
  /// The direction in which all products x*z and s*l become `target`, with the second-order terms of `predicted` (if
  /// any). Call factor() for the same iterate first.
  void aim(const Iterate& now, double target, const Direction* predicted, Direction& direction) const;

  /// Steps that keep `kept` of the way to the boundary.
  Steps steps(const Iterate& now, const Direction& direction, double kept) const;
  double mean_product(const Iterate& now) const;
  /// After steps.
  double mean_product(const Iterate& now, const Direction& direction, Steps steps) const;
  void move(Iterate& now, const Direction& direction, Steps steps) const;

 private:
  void assemble(const Iterate& now);
  void add_pair(const Iterate& now, PairId pair);
  void solve_for_lengths(const Iterate& now, double target, const Direction* predicted, Direction& direction) const;

  const FlowInstance& instance_;
  const PathColumns& columns_;
  DenseSystem system_;
  // Of add_pair: the classes of the pair's paths and vectors over them.
  std::vector<std::int32_t> place_;  // [class] in met_, or -1
  std::vector<std::int32_t> met_;
  std::vector<double> mean_, row_;
};

}  // namespace colltopo::synthesis
