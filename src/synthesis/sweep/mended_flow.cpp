// Rounds over the overloaded links alone, with a multiplier for each of them.
//
// The lengths that proved the old flow still prove nearly as much on what is left of the network, and price detours:
// rightly, but for those of a cut, which know no detour within its parts. On top of them come multipliers, which grow
// with the overload of a link as long as it lasts. Where the break makes the optimum worse (a torus loses a part of its
// narrowest cut), the goal cannot be reached by that bound; then the busiest links contain a cut (busy_cuts.h), and
// length on the links of the cut alone proves it.
#include "synthesis/sweep/mended_flow.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "synthesis/sweep/busy_cuts.h"
#include "synthesis/sweep/flow_sweep.h"

namespace colltopo::synthesis {

namespace {

constexpr int k_most_rounds = 30;
constexpr double k_most_overloaded = 1.0 / 3;  // of the links: the old flow was not near this bound
constexpr double k_aim = 0.05;            // of the gap, below the goal: rounds come to rest a little above their aim
constexpr double k_beta = 200;            // sharp enough that a link half a percent too busy costs three times as much
constexpr double k_highest_exponent = 8;  // a broken pair's first detour overloads links by much more
constexpr double k_slow_mending = 0.8;    // an overload that is more than this part of the last one does not shrink
constexpr double k_proving_betas[] = {40, 0};  // sharper lengths than the multipliers alone, and these

class Mending {
 public:
  Mending(const FlowInstance& instance, std::span<const double> class_lengths, const SynthesisOptions& options)
      : instance_(instance), options_(options), flow_(instance, options) {
    flow_.start_from(*options.start);
    potential().set_priors(class_lengths);
    prove(0.0);
  }

  FlowSolution run() {
    double last = INFINITY;
    for (int round = 0; round < k_most_rounds && overload() > 0 && !is_late(); ++round) {
      if (overload() > k_slow_mending * last && !prove_more()) break;
      if (overload() <= 0) break;
      last = overload();
      if (!move_overload()) break;
      if (options_.progress) options_.progress({.time = time(), .time_lower = time_lower_, .lengths = {}});
    }
    return flow_.solution(time_lower_, std::move(lengths_), Answer::routing);
  }

 private:
  using Clock = std::chrono::steady_clock;

  LinkPotential& potential() { return flow_.potential(); }
  double time() { return potential().largest(); }
  double goal() const { return time_lower_ * (1 + options_.gap); }
  double overload() { return time() / goal() - 1; }
  bool is_late() const {
    return std::isfinite(options_.seconds) &&
           any_member(options_.team, std::chrono::duration<double>(Clock::now() - began_).count() > options_.seconds);
  }

  void prove(std::vector<double> lengths) {
    const double volume = std::inner_product(lengths.begin(), lengths.end(), instance_.class_capacity.begin(), 0.0);
    const double time_lower = flow_.sum_of_distances(lengths) / volume;
    if (time_lower <= time_lower_) return;
    time_lower_ = time_lower;
    lengths_ = std::move(lengths);
  }

  /// By the lengths under this beta.
  void prove(double beta) {
    potential().set(beta, time());
    prove(std::vector<double>(potential().lengths().begin(), potential().lengths().end()));
  }

  /// Whether a cut or the lengths of the moment prove more than is known.
  bool prove_more() {
    const double before = time_lower_;
    // Traffic may prove less by it.
    if (Cut cut = best_cut(instance_, potential().loads(), time_lower_, time()); !cut.lengths.empty())
      prove(std::move(cut.lengths));
    for (const double beta : k_proving_betas) {
      if (overload() <= 0) break;
      const double known = time_lower_;
      prove(beta);
      if (time_lower_ <= known) break;
    }
    return time_lower_ > before;
  }

  /// [class] whether it is busy for longer than this.
  std::vector<bool> overloaded_links(double time) {
    std::vector<bool> overloaded(instance_.class_capacity.size());
    for (std::size_t e = 0; e < overloaded.size(); ++e)
      overloaded[e] = potential().loads()[e] > time * instance_.class_capacity[e];
    return overloaded;
  }

  /// Moves pairs off the links that are too busy. False when these are too many.
  bool move_overload() {
    const double aim = goal() * (1 - k_aim * options_.gap);
    const std::vector<bool> overloaded = overloaded_links(aim);
    const auto count = static_cast<double>(std::count(overloaded.begin(), overloaded.end(), true));
    if (count > k_most_overloaded * static_cast<double>(overloaded.size())) return false;
    const double beta = std::min(k_beta, k_highest_exponent / (time() / aim - 1));
    potential().set(beta, aim);
    flow_.sweep_over(overloaded);
    potential().set(beta, aim);
    potential().absorb_excess();
    return true;
  }

  const FlowInstance& instance_;
  const SynthesisOptions& options_;
  const Clock::time_point began_ = Clock::now();
  FlowSweep flow_;
  double time_lower_ = 0;
  std::vector<double> lengths_;  // [class] that prove it
};

}  // namespace

FlowSolution mended_flow(const FlowInstance& instance, std::span<const double> class_lengths,
                         const SynthesisOptions& options) {
  return Mending(instance, class_lengths, options).run();
}

}  // namespace colltopo::synthesis
