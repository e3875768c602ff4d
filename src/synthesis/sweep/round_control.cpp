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
constexpr int k_stalled_rounds = 2;  // until sources that are visited together leave each other more room

}  // namespace

void RoundControl::refine() {
  fine_ = true;
  nearest_round_ = round_ + 1;  // coarse rounds that came no nearer do not count
  beta_ = k_fine_beta;
}

bool RoundControl::fits(double time, double mean, double time_lower) {
  return mean - time_lower < k_duality_part * (time - mean);
}

bool RoundControl::sharpen(LinkPotential& potential, double gap, bool fits) {
  if (!fine_ && gap <= k_fine_gap) {
    refine();
  } else if (!fine_ && fits) {
    beta_ *= 2;
  } else if (fits) {
    potential.set(beta_, potential.largest());
    potential.absorb(std::clamp(k_floor_part * gap, k_lowest_floor, k_highest_floor));
  } else {
    return false;
  }
  return true;
}

bool RoundControl::stalls() const {
  const int rounds = round_ - nearest_round_;
  return fine_ && rounds > 0 && rounds % k_stalled_rounds == 0;
}

bool RoundControl::ended(double gap, bool near_enough) {
  ++round_;
  if (gap < nearest_ * (1 - k_progress)) {
    nearest_ = gap;
    nearest_round_ = round_;
  }
  if (near_enough || round_ - nearest_round_ > k_patience) return true;
  return std::isfinite(options_.seconds) &&
         any_member(options_.team, std::chrono::duration<double>(Clock::now() - began_).count() > options_.seconds);
}

}  // namespace colltopo::synthesis
