// How sharp the potential is from round to round of a flow's improvement, and when the rounds end.
//
// The gap has two parts: smoothing (largest load - mean load weighted by length) and duality (mean load - lower bound);
// a round of sweeps reduces the latter. Whenever it is the smaller one the flow "fits" the potential: the coarse rounds
// then double beta; the fine rounds keep beta and take the lengths for the priors of the next, which converges where
// ever larger betas would not let a sweep move anything (at 1,000 hosts 0.1% in 3 s instead of 12 s, and 0.01% at all).
#pragma once

#include <chrono>
#include <limits>

#include "colltopo/synthesis.h"
#include "synthesis/sweep/link_potential.h"

namespace colltopo::synthesis {

class RoundControl {
 public:
  /// Of `options`: seconds, team.
  explicit RoundControl(const SynthesisOptions& options) : options_(options) {}

  double beta() const { return beta_; }
  bool fine() const { return fine_; }
  /// From here on; for flows that begin near the optimum.
  void refine();
  /// Whether a flow whose mean load is `mean` fits the potential.
  static bool fits(double time, double mean, double time_lower);
  /// After a round that ends with this gap.
  void sharpen(LinkPotential& potential, double gap, bool fits);
  /// Whether lengths are now sharper than the flow is used to.
  bool sharper() const { return sharper_; }
  /// Whether the last rounds that have ended came no nearer: sources that are visited together overshoot.
  bool stalls() const;
  /// Whether the rounds end: near enough, making no progress any more, or out of time, which the members of a team
  /// agree on. `gap` of the flow in hand, `best` of that and what is kept.
  bool ended(double gap, double best, bool near_enough);

 private:
  using Clock = std::chrono::steady_clock;

  const SynthesisOptions& options_;
  const Clock::time_point began_ = Clock::now();
  double beta_ = 10;
  bool fine_ = false;
  bool sharper_ = false;
  /// The smallest gap so far.
  struct Nearest {
    double gap = std::numeric_limits<double>::infinity();
    int round = 0;
    void note(double now, int at);
  };
  int round_ = 0;
  Nearest in_hand_, best_;
};

}  // namespace colltopo::synthesis
