// Coarse rounds, fine rounds, the end.
#include "synthesis/sweep/round_control.h"

#include <algorithm>
#include <cmath>

#include "colltopo/team.h"

namespace colltopo::synthesis {

namespace {

constexpr double k_fine_beta = 40;
constexpr double k_fine_gap = 0.06;        // where fine rounds begin
constexpr double k_duality_part = 0.7;     // duality below this part of smoothing: the flow fits the potential
constexpr double k_highest_floor = 0.007;  // of priors; less as the gap closes
constexpr double k_lowest_floor = 1e-12;
constexpr double k_floor_part = 0.1;
// A flow that has not come nearer by this part in so many rounds does not get any nearer.
constexpr double k_progress = 0.02;
constexpr int k_patience = 300;
// Rounds that come no nearer until sources that are visited together leave each other more room: a fine round may be
// off by chance, a coarse one is not.
constexpr int k_stalled_rounds = 2, k_stalled_coarse_rounds = 1;

}  // namespace

void RoundControl::refine() {
  fine_ = true;
  in_hand_.round = best_.round = round_ + 1;  // coarse rounds that came no nearer do not count
  beta_ = k_fine_beta;
}

bool RoundControl::fits(double time, double mean, double time_lower) {
  return mean - time_lower < k_duality_part * (time - mean);
}

void RoundControl::sharpen(LinkPotential& potential, double gap, bool fits) {
  sharper_ = fits || (!fine_ && gap <= k_fine_gap);
  if (!fine_ && gap <= k_fine_gap) {
    refine();
  } else if (!fine_ && fits) {
    beta_ *= 2;
  } else if (fits) {
    potential.set(beta_, potential.largest());
    potential.absorb(std::clamp(k_floor_part * gap, k_lowest_floor, k_highest_floor));
  }
}

bool RoundControl::stalls() const {
  // A coarse round whose potential has just become sharper may come no nearer for that alone.
  if (!fine_ && sharper_) return false;
  const int rounds = round_ - in_hand_.round;
  return rounds > 0 && rounds % (fine_ ? k_stalled_rounds : k_stalled_coarse_rounds) == 0;
}

void RoundControl::Nearest::note(double now, int at) {
  if (now >= gap * (1 - k_progress)) return;
  gap = now;
  round = at;
}

bool RoundControl::ended(double gap, double best, bool near_enough) {
  ++round_;
  in_hand_.note(gap, round_);
  best_.note(best, round_);
  if (near_enough || round_ - best_.round > k_patience) return true;
  return std::isfinite(options_.seconds) &&
         any_member(options_.team, std::chrono::duration<double>(Clock::now() - began_).count() > options_.seconds);
}

}  // namespace colltopo::synthesis
