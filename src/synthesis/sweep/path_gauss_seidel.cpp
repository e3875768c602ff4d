// Path Gauss-Seidel on the exponential potential: rounds of sweeps and both bounds.
//
// Any lengths bound the optimum from below (duality), any flow from above; the potential's lengths and the flow in hand
// meet there. round_control.h says how the potential sharpens.
#include "synthesis/sweep/path_gauss_seidel.h"

#include <algorithm>
#include <limits>

#include "synthesis/sweep/busy_cuts.h"
#include "synthesis/sweep/flow_sweep.h"
#include "synthesis/sweep/round_control.h"

namespace colltopo::synthesis {

namespace {

constexpr double k_prior_floor = 0.007;  // of lengths to begin with, as round_control.cpp's highest
constexpr double k_worth_a_part = 10;    // times the gap that is asked for, of a coarse flow: worse ones have none
constexpr int k_pool_sweeps = 3;         // before the sweep of a fine round that finds new paths: as many as pay
constexpr double k_sharpest = 16;        // times beta, to cut peaks

class GaussSeidelRounds {
 public:
  GaussSeidelRounds(const FlowInstance& instance, const SynthesisOptions& options, Answer answer)
      : instance_(instance),
        options_(options),
        answer_(answer),
        control_(options),
        flow_(instance, options),
        kept_(instance, answer, options.threads) {}

  FlowSolution run() {
    begin();
    do {
      if (control_.stalls()) flow_.damp();
      const bool fits = control_.fine() ? fine_round() : coarse_round();
      if (control_.fine() || gap() <= k_worth_a_part * options_.gap) kept_.take(flow_.pools(), flow_.loads());
      prove_by_cut();
      if (options_.progress)
        options_.progress({.time = std::min(time_, kept_.time()), .time_lower = time_lower_, .lengths = {}});
      control_.sharpen(potential(), gap(), fits);
    } while (!control_.ended(gap(), best_gap(), best_gap() <= options_.gap));
    return flow_.solution(time_lower_, std::move(class_lengths_), answer_, &kept_);
  }

 private:
  LinkPotential& potential() { return flow_.potential(); }
  /// Of the flow in hand.
  double gap() const { return time_ / time_lower_ - 1; }
  double best_gap() const { return std::min(time_, kept_.time()) / time_lower_ - 1; }

  void begin() {
    // Lengths 1 / capacity: the distance bound, which is also the first guess of the time.
    certify(flow_.sum_of_distances(potential().lengths()), potential().lengths(), potential().volume());
    if (options_.start == nullptr) {
      potential().set(control_.beta(), time_lower_);
    } else {
      flow_.start_from(*options_.start);
      control_.refine();
      begin_with(options_.start_lengths);
      potential().set(control_.beta(), std::max(potential().largest(), time_lower_));
    }
    flow_.sweep_with_new_paths({});
  }

  /// What these lengths prove, and they become the priors.
  void begin_with(std::span<const double> lengths) {
    const auto is_positive = [](double length) { return length > 0; };
    if (lengths.size() != potential().lengths().size() || std::ranges::none_of(lengths, is_positive)) return;
    potential().set_priors(lengths);
    potential().set(0, 1);
    certify(flow_.sum_of_distances(potential().lengths()), potential().lengths(), potential().volume());
    potential().absorb(k_prior_floor);
  }

  /// Paths by the lengths of the moment. Returns whether the flow fits the potential.
  bool coarse_round() {
    potential().set(control_.beta(), potential().largest());
    flow_.sweep_with_new_paths({});
    potential().set(control_.beta(), potential().largest());
    const double mean = potential().mean(), volume = potential().volume();
    const double lower = flow_.sum_of_distances(potential().lengths()) / volume;
    certify(lower * volume, potential().lengths(), volume);
    time_ = potential().largest();
    const bool fits = RoundControl::fits(time_, mean, lower);
    cut_peaks(mean);
    return fits;
  }

  /// New paths by the lengths from which the sweep for them starts, so that the same trees certify these. A potential
  /// that has just become sharper needs new paths at once: pools alone would follow it to lengths that prove nothing.
  bool fine_round() {
    for (int i = control_.sharper() ? -1 : 0; i < k_pool_sweeps; ++i) {
      potential().set(control_.beta(), potential().largest());
      if (i < 0)
        flow_.sweep_with_new_paths({});
      else
        flow_.sweep_pools();
      time_ = potential().largest();
      if (best_gap() <= options_.gap) return false;  // by the lengths in hand
    }
    potential().set(control_.beta(), potential().largest());
    const std::vector<double> lengths(potential().lengths().begin(), potential().lengths().end());
    const double mean = potential().mean(), volume = potential().volume(), largest = potential().largest();
    const double lower = flow_.sweep_with_new_paths(lengths) / volume;
    certify(lower * volume, lengths, volume);
    time_ = potential().largest();
    cut_peaks(mean);
    return RoundControl::fits(largest, mean, lower);
  }

  /// Where the mean load is near enough to what is proved, only peaks are not: a much sharper potential cuts them
  /// within the pools, in a fraction of a round's time.
  void cut_peaks(double mean) {
    if (best_gap() <= options_.gap || mean / time_lower_ - 1 >= options_.gap || sharp_ <= 1) return;
    potential().set(sharp_ * control_.beta(), potential().largest());
    flow_.sweep_pools();
    potential().set(control_.beta(), potential().largest());
    time_ = potential().largest();
    if (time_ >= least_cut_) sharp_ /= 2;  // where this comes to rest, or it raises others
    least_cut_ = std::min(least_cut_, time_);
  }

  /// Lengths of a cut that limits everybody, as of a torus that has lost a link, grow by a few percent from one round
  /// to the next, long after the flow cannot become any better.
  void prove_by_cut() {
    if (best_gap() <= options_.gap || instance_.traffic != nullptr ||
        instance_.sources.size() < static_cast<std::size_t>(instance_.topology->hosts()))
      return;
    Cut cut = best_cut(instance_, potential().loads(), time_lower_, time_);
    if (cut.lengths.empty()) return;
    time_lower_ = cut.time_lower;
    class_lengths_ = std::move(cut.lengths);
  }

  void certify(double distances, std::span<const double> lengths, double volume) {
    if (distances / volume <= time_lower_) return;
    time_lower_ = distances / volume;
    class_lengths_.assign(lengths.begin(), lengths.end());
  }

  const FlowInstance& instance_;
  const SynthesisOptions& options_;
  Answer answer_;
  RoundControl control_;
  FlowSweep flow_;
  KeptFlow kept_;
  double sharp_ = k_sharpest;
  double least_cut_ = std::numeric_limits<double>::infinity();  // time after peaks were cut
  double time_ = 0;                                             // of the flow in hand
  double time_lower_ = 0;
  std::vector<double> class_lengths_;  // that prove it
};

}  // namespace

FlowSolution path_gauss_seidel(const FlowInstance& instance, const SynthesisOptions& options, Answer answer) {
  require_all_pairs(*instance.topology);
  return GaussSeidelRounds(instance, options, answer).run();
}

}  // namespace colltopo::synthesis
