// Mehrotra's predictor and corrector on columns that grow and shrink.
#include "synthesis/interior_point/path_interior_point.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "base/index.h"
#include "synthesis/interior_point/newton_system.h"
#include "synthesis/interior_point/path_pricing.h"

namespace colltopo::synthesis {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int k_most_iterations = 300;
constexpr int k_idle_iterations = 20;    // iterations without gain before rounding is held responsible
constexpr double k_rounding = 1e-12;     // products that sum to less than this part of the time are nothing to gain
constexpr double k_kept = 0.995;         // of the way to the boundary
constexpr double k_first_gap = 1e-2;     // made by the products to begin with: nearer to the boundary no step is long
constexpr double k_least_product = 0.3;  // of what begins, over the mean
constexpr double k_ahead = 1e4;          // times the gap that products make
constexpr double k_least_part = 0.01;    // of all lengths by capacity that links have alike to begin with
constexpr double k_first_share = 0.05;   // of its pair's demand, for a path that comes late
constexpr double k_least_path_saving = 0.01;  // of the gap of products: by how much a new path must be shorter
constexpr double k_too_long = 10;             // a path so many such gaps longer than its pair's shortest is dropped
constexpr double k_no_length = 0.1;           // if it carries less than this part of it, and of 1%, as well

class InteriorPoint {
 public:
  InteriorPoint(const FlowInstance& instance, const SynthesisOptions& options)
      : instance_(instance),
        options_(options),
        columns_(instance),
        pricing_(instance, columns_, options.threads),
        newton_(instance, columns_, options.threads) {}

  FlowSolution run(const FlowSolution& start);

 private:
  const std::vector<double>& capacity() const { return instance_.class_capacity; }
  double gap() const { return best_upper_ / best_lower_ - 1; }
  /// About how many products there are.
  double count() const { return static_cast<double>(capacity().size() + 2 * now_.active.size()); }
  /// The gap that the products alone make: that of the iterate when it is feasible and lacks no path.
  double products() const { return mean_ * count() / best_lower_; }

  void begin(const FlowSolution& start);
  void open(const FlowSolution& start);
  void drop_empty_paths();
  void price();
  void measure();
  void keep_best();
  void open_slacks();
  void open_start(PairId pair);
  void open_pair(PairId pair);
  bool finished();
  FlowSolution solution() const;

  const FlowInstance& instance_;
  const SynthesisOptions& options_;
  Clock::time_point began_ = Clock::now();
  PathColumns columns_;
  PathPricing pricing_;
  NewtonSystem newton_;
  Iterate now_;
  double lower_ = 0, upper_ = 0;  // by the lengths and flows of now_
  double mean_ = 0;               // of the products of flows and slacks with their lengths
  double least_mean_ = 0;         // at the last gain
  double best_lower_ = 0, best_upper_ = 0;
  std::vector<double> best_lengths_, best_flow_;
  int iteration_ = 0, last_gain_ = 0;
};

void InteriorPoint::begin(const FlowSolution& start) {
  now_.lengths = start.class_lengths;
  if (now_.lengths.empty()) now_.lengths.assign(capacity().size(), 1);
  double volume = 0;
  for (std::size_t c = 0; c < capacity().size(); ++c) volume += now_.lengths[c] * capacity()[c];
  // Lengths of a cut are 0 elsewhere, and the way to the optimum begins inside.
  const double least = k_least_part / static_cast<double>(capacity().size());
  for (std::size_t c = 0; c < capacity().size(); ++c)
    now_.lengths[c] = (1 - k_least_part) * now_.lengths[c] / volume + least / capacity()[c];
  for (std::size_t i = 0; i < start.routing.paths(); ++i) {
    const WeightedPath path = start.routing.path(i);
    const auto source = std::lower_bound(instance_.sources.begin(), instance_.sources.end(), path.source);
    const PairId pair = columns_.pair(static_cast<std::size_t>(source - instance_.sources.begin()), path.target);
    columns_.add(pair, path.links);
    now_.flow.push_back(path.weight * columns_.demand(pair));
  }
  now_.reduced.assign(now_.flow.size(), 0);
}

/// Forgets paths that carry nothing and are so much too long that they will not be wanted again soon.
void InteriorPoint::drop_empty_paths() {
  for (const PairId pair : now_.active) {
    double shortest = columns_.length(columns_.first(pair), now_.lengths);
    for (PathId p = columns_.first(pair); p >= 0; p = columns_.next(p))
      shortest = std::min(shortest, columns_.length(p, now_.lengths));
    const double limit = shortest * (1 + k_too_long * products());
    const double nothing = std::min(k_no_length * products(), 0.01) * columns_.demand(pair);
    columns_.drop(pair, [&](PathId p) {
      const bool empty = now_.flow[index(p)] < nothing && columns_.length(p, now_.lengths) > limit;
      if (empty) now_.flow[index(p)] = now_.reduced[index(p)] = 0;
      return empty;
    });
    if (columns_.paths_of(pair) == 1) now_.reduced[index(columns_.first(pair))] = 0;
  }
}

/// The lower bound by the lengths, and a path for every pair that has a shorter one than it knows: fresh, that is, of
/// reduced length -1 until open_pair().
void InteriorPoint::price() {
  double volume = 0;
  for (std::size_t c = 0; c < capacity().size(); ++c) volume += now_.lengths[c] * capacity()[c];
  const double saving = best_lower_ > 0 ? std::clamp(k_least_path_saving * products(), 1e-13, 1e-3) : 0;
  lower_ = pricing_.price(now_.lengths, now_.reduced, saving) / volume;
  for (const PathPricing::Found& found : pricing_.found()) {
    const bool only = columns_.paths_of(found.pair) == 0;
    if (!only && best_lower_ == 0) continue;  // the start settles first
    columns_.add(found.pair, found.links);
    now_.flow.push_back(only ? columns_.demand(found.pair) : 0);
    now_.reduced.push_back(only ? 0 : -1);
  }
  now_.active.clear();
  for (PairId pair = 0; pair < columns_.pairs(); ++pair)
    if (columns_.paths_of(pair) > 1) now_.active.push_back(pair);
}

/// Flows and reduced lengths of the paths that a flow from elsewhere gives a pair: those of a pair on its own at mean_.
void InteriorPoint::open_start(PairId pair) {
  double shortest = std::numeric_limits<double>::infinity();
  for (PathId p = columns_.first(pair); p >= 0; p = columns_.next(p))
    shortest = std::min(shortest, columns_.length(p, now_.lengths));
  const double potential = shortest - mean_ * columns_.paths_of(pair) / columns_.demand(pair);
  for (PathId p = columns_.first(pair); p >= 0; p = columns_.next(p)) {
    now_.reduced[index(p)] = columns_.length(p, now_.lengths) - potential;
    now_.flow[index(p)] = std::max(now_.flow[index(p)], k_least_product * mean_ / now_.reduced[index(p)]);
  }
}

/// Gives a fresh path a flow and a reduced length: such that their product is mean_ where the path is longer than the
/// pair's potential; otherwise the potential has to fall, which spoils the products of the pair's other paths.
void InteriorPoint::open_pair(PairId pair) {
  const double demand = columns_.demand(pair);
  double potential = std::numeric_limits<double>::infinity();
  double others = 0;
  for (PathId p = columns_.first(pair); p >= 0; p = columns_.next(p)) {
    if (now_.reduced[index(p)] < 0) continue;
    others += now_.flow[index(p)];
    const double reduced = now_.reduced[index(p)] > 0 ? now_.reduced[index(p)] : mean_ / demand;
    potential = std::min(potential, columns_.length(p, now_.lengths) - reduced);
  }
  double left = demand;
  for (PathId p = columns_.first(pair); p >= 0; p = columns_.next(p)) {
    if (now_.reduced[index(p)] >= 0) continue;
    const double length = columns_.length(p, now_.lengths);
    double& flow = now_.flow[index(p)];
    flow = k_first_share * demand;
    if (length - potential > mean_ / flow)
      flow = mean_ / (length - potential);
    else
      potential = std::min(potential, length - k_least_product * mean_ / flow);
    left -= flow;
  }
  for (PathId p = columns_.first(pair); p >= 0; p = columns_.next(p)) {
    if (now_.reduced[index(p)] >= 0) now_.flow[index(p)] *= left / others;
    now_.reduced[index(p)] = columns_.length(p, now_.lengths) - potential;
  }
}

/// Flows made to sum to the demands exactly, their loads and the upper bound.
void InteriorPoint::measure() {
  now_.loads.assign(capacity().size(), 0);
  for (PairId pair = 0; pair < columns_.pairs(); ++pair) {
    double sum = 0;
    for (PathId p = columns_.first(pair); p >= 0; p = columns_.next(p)) sum += now_.flow[index(p)];
    for (PathId p = columns_.first(pair); p >= 0; p = columns_.next(p)) {
      now_.flow[index(p)] *= columns_.demand(pair) / sum;
      for (const std::int32_t c : columns_.classes(p)) now_.loads[index(c)] += now_.flow[index(p)];
    }
  }
  upper_ = 0;
  for (std::size_t c = 0; c < capacity().size(); ++c) upper_ = std::max(upper_, now_.loads[c] / capacity()[c]);
}

void InteriorPoint::keep_best() {
  const double before = best_lower_ > 0 ? gap() : 2 * (upper_ / lower_);
  if (lower_ > best_lower_) {
    best_lower_ = lower_;
    best_lengths_ = now_.lengths;
  }
  if (best_upper_ == 0 || upper_ < best_upper_) {
    best_upper_ = upper_;
    best_flow_ = now_.flow;
  }
  if (gap() < 0.9 * before || (mean_ < 0.9 * least_mean_ && products() > k_rounding)) {
    last_gain_ = iteration_;
    least_mean_ = mean_;
  }
}

/// Slacks to begin with: no product far below the mean.
void InteriorPoint::open_slacks() {
  now_.slack.resize(capacity().size());
  for (std::size_t c = 0; c < capacity().size(); ++c)
    now_.slack[c] = std::max(now_.top * capacity()[c] - now_.loads[c], k_least_product * mean_ / now_.lengths[c]);
}

bool InteriorPoint::finished() {
  const std::chrono::duration<double> passed = Clock::now() - began_;
  return gap() <= options_.gap || passed.count() >= options_.seconds || iteration_ >= k_most_iterations ||
         iteration_ - last_gain_ > k_idle_iterations;
}

/// The first iterate, moved off the boundary; what `start` proves and comes to is kept.
void InteriorPoint::open(const FlowSolution& start) {
  price();
  measure();
  keep_best();
  if (start.time_lower > best_lower_) {
    best_lower_ = start.time_lower;
    best_lengths_ = start.class_lengths;
  }
  mean_ = std::max(upper_ - lower_, k_first_gap * lower_) / count();
  least_mean_ = mean_;
  now_.top = upper_ * 1.001;
  for (std::size_t c = 0; c < capacity().size(); ++c)
    now_.lengths[c] = std::max(now_.lengths[c], k_least_product * mean_ / (now_.top * capacity()[c]));
  for (const PairId pair : now_.active) open_start(pair);
  measure();
  open_slacks();
}

FlowSolution InteriorPoint::run(const FlowSolution& start) {
  begin(start);
  open(start);
  Direction predicted, direction;
  for (; !finished() && newton_.factor(now_); ++iteration_) {
    newton_.aim(now_, 0, nullptr, predicted);
    const double after = newton_.mean_product(now_, predicted, newton_.steps(now_, predicted, 1));
    // Mehrotra's choice: the better the prediction, the closer to zero. But not where the products are far ahead of
    // what the flow comes to: it would never fit the slacks any more.
    const bool ahead = upper_ / lower_ - 1 > k_ahead * products();
    const double centre = ahead ? 1 : std::pow(std::clamp(after / mean_, 0.0, 1.0), 3);
    newton_.aim(now_, centre * mean_, &predicted, direction);
    newton_.move(now_, direction, newton_.steps(now_, direction, k_kept));
    mean_ = newton_.mean_product(now_);
    if (!std::isfinite(mean_)) break;  // rounding has eaten it
    drop_empty_paths();
    price();
    for (const PathPricing::Found& found : pricing_.found()) open_pair(found.pair);
    measure();
    keep_best();
    if (options_.progress) options_.progress({best_upper_, best_lower_, {}});
  }
  return solution();
}

FlowSolution InteriorPoint::solution() const {
  std::vector<PathId> used;
  for (std::size_t p = 0; p < best_flow_.size(); ++p) {
    const auto path = static_cast<PathId>(p);
    if (best_flow_[p] > k_least_share * columns_.demand(columns_.pair_of(path))) used.push_back(path);
  }
  std::stable_sort(used.begin(), used.end(),
                   [&](PathId a, PathId b) { return columns_.pair_of(a) < columns_.pair_of(b); });
  FlowSolution solution;
  solution.routing = Routing(instance_.topology->hosts());
  for (std::size_t i = 0, end = 0; i < used.size(); i = end) {
    const PairId pair = columns_.pair_of(used[i]);
    double sum = 0;
    for (end = i; end < used.size() && columns_.pair_of(used[end]) == pair; ++end) sum += best_flow_[index(used[end])];
    for (std::size_t j = i; j < end; ++j)
      solution.routing.add(instance_.sources[columns_.source_of(pair)], columns_.target_of(pair),
                           best_flow_[index(used[j])] / sum, columns_.links(used[j]));
  }
  solution.loads = class_loads(instance_, solution.routing);
  for (std::size_t c = 0; c < solution.loads.size(); ++c)
    solution.time = std::max(solution.time, solution.loads[c] / capacity()[c]);
  solution.time_lower = best_lower_;
  solution.class_lengths = best_lengths_;
  return solution;
}

}  // namespace

FlowSolution path_interior_point(const FlowInstance& instance, const FlowSolution& start,
                                 const SynthesisOptions& options) {
  return InteriorPoint(instance, options).run(start);
}

}  // namespace colltopo::synthesis
