// Assembling, solving and back substitution; sums over the paths of pairs that have a choice.
#include "synthesis/interior_point/newton_system.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/index.h"

namespace colltopo::synthesis {

namespace {

constexpr double k_diagonal_kept = 1e-13;  // of each diagonal entry, added to it
constexpr int k_attempts = 4;              // with a hundred times more each

/// What a product must change by to first order.
double missing(double target, double primal, double dual, double primal_step, double dual_step) {
  return target - primal * dual - primal_step * dual_step;
}

double missing_at_path(const Iterate& now, PathId p, double target, const Direction* predicted) {
  return predicted ? missing(target, now.flow[index(p)], now.reduced[index(p)], predicted->flow[index(p)],
                             predicted->reduced[index(p)])
                   : missing(target, now.flow[index(p)], now.reduced[index(p)], 0, 0);
}

double missing_at_class(const Iterate& now, std::size_t c, double target, const Direction* predicted) {
  return predicted ? missing(target, now.slack[c], now.lengths[c], predicted->slack[c], predicted->lengths[c])
                   : missing(target, now.slack[c], now.lengths[c], 0, 0);
}

/// The largest step <= 1 that leaves 1 - kept of a value that would reach zero.
void limit(double& step, double value, double change, double kept) {
  if (change < 0) step = std::min(step, -value / change * kept);
}

}  // namespace

NewtonSystem::NewtonSystem(const FlowInstance& instance, const PathColumns& columns, int threads)
    : instance_(instance),
      columns_(columns),
      system_(instance.class_capacity.size(), threads),
      place_(instance.class_capacity.size(), -1) {}

/// Adds the sum over the pair's paths of weight * (path - mean)(path - mean)', weight = x / z.
void NewtonSystem::add_pair(const Iterate& now, PairId pair) {
  met_.clear();
  double weights = 0;
  for (PathId p = columns_.first(pair); p >= 0; p = columns_.next(p)) {
    weights += now.flow[index(p)] / now.reduced[index(p)];
    for (const std::int32_t c : columns_.classes(p))
      if (place_[index(c)] < 0) {
        place_[index(c)] = 0;
        met_.push_back(c);
      }
  }
  std::sort(met_.begin(), met_.end());
  for (std::size_t i = 0; i < met_.size(); ++i) place_[index(met_[i])] = static_cast<std::int32_t>(i);
  mean_.assign(met_.size(), 0);
  for (PathId p = columns_.first(pair); p >= 0; p = columns_.next(p)) {
    const double share = now.flow[index(p)] / now.reduced[index(p)] / weights;
    for (const std::int32_t c : columns_.classes(p)) mean_[index(place_[index(c)])] += share;
  }
  for (PathId p = columns_.first(pair); p >= 0; p = columns_.next(p)) {
    const double weight = now.flow[index(p)] / now.reduced[index(p)];
    row_.assign(met_.size(), 0);
    for (const std::int32_t c : columns_.classes(p)) row_[index(place_[index(c)])] += 1;
    for (std::size_t i = 0; i < met_.size(); ++i) row_[i] -= mean_[i];
    for (std::size_t i = 0; i < met_.size(); ++i) {
      if (std::abs(row_[i]) < 1e-14) continue;
      for (std::size_t j = i; j < met_.size(); ++j)
        system_.at(index(met_[j]), index(met_[i])) += weight * row_[i] * row_[j];
    }
  }
  for (const std::int32_t c : met_) place_[index(c)] = -1;
}

void NewtonSystem::assemble(const Iterate& now) {
  system_.clear();
  for (const PairId pair : now.active) add_pair(now, pair);
  for (std::size_t c = 0; c < now.lengths.size(); ++c) system_.at(c, c) += now.slack[c] / now.lengths[c];
}

bool NewtonSystem::factor(const Iterate& now) {
  double kept = k_diagonal_kept;
  for (int attempt = 0; attempt < k_attempts; ++attempt, kept *= 100) {
    assemble(now);
    for (std::size_t c = 0; c < now.lengths.size(); ++c) system_.at(c, c) *= 1 + kept;
    if (system_.factor()) return true;
  }
  return false;
}

/// direction.lengths and .top: K lengths + top * capacity = right, capacity . lengths = 0.
void NewtonSystem::solve_for_lengths(const Iterate& now, double target, const Direction* predicted,
                                     Direction& direction) const {
  const std::vector<double>& capacity = instance_.class_capacity;
  std::vector<double>& right = direction.lengths;
  right.resize(capacity.size());
  for (std::size_t c = 0; c < capacity.size(); ++c)
    right[c] = missing_at_class(now, c, target, predicted) / now.lengths[c] -
               (now.top * capacity[c] - now.loads[c] - now.slack[c]);
  for (const PairId pair : now.active) {
    double weights = 0;
    double moved = 0;
    for (PathId p = columns_.first(pair); p >= 0; p = columns_.next(p)) {
      weights += now.flow[index(p)] / now.reduced[index(p)];
      moved += missing_at_path(now, p, target, predicted) / now.reduced[index(p)];
    }
    for (PathId p = columns_.first(pair); p >= 0; p = columns_.next(p)) {
      const double own =
          (missing_at_path(now, p, target, predicted) - now.flow[index(p)] * (moved / weights)) / now.reduced[index(p)];
      for (const std::int32_t c : columns_.classes(p)) right[index(c)] += own;
    }
  }
  std::vector<double> by_top = capacity;
  system_.solve(right);
  system_.solve(by_top);
  direction.top = std::inner_product(right.begin(), right.end(), capacity.begin(), 0.0) /
                  std::inner_product(by_top.begin(), by_top.end(), capacity.begin(), 0.0);
  for (std::size_t c = 0; c < capacity.size(); ++c) right[c] -= direction.top * by_top[c];
}

void NewtonSystem::aim(const Iterate& now, double target, const Direction* predicted, Direction& direction) const {
  solve_for_lengths(now, target, predicted, direction);
  direction.slack.resize(now.slack.size());
  direction.flow.resize(now.flow.size());
  direction.reduced.resize(now.flow.size());
  for (std::size_t c = 0; c < now.slack.size(); ++c)
    direction.slack[c] =
        (missing_at_class(now, c, target, predicted) - now.slack[c] * direction.lengths[c]) / now.lengths[c];
  for (const PairId pair : now.active) {
    double weights = 0;
    double shift = 0;
    for (PathId p = columns_.first(pair); p >= 0; p = columns_.next(p)) {
      const double weight = now.flow[index(p)] / now.reduced[index(p)];
      direction.reduced[index(p)] = columns_.length(p, direction.lengths);
      weights += weight;
      shift +=
          weight * direction.reduced[index(p)] - missing_at_path(now, p, target, predicted) / now.reduced[index(p)];
    }
    for (PathId p = columns_.first(pair); p >= 0; p = columns_.next(p)) {
      direction.reduced[index(p)] -= shift / weights;  // the rise of the pair's potential
      direction.flow[index(p)] =
          (missing_at_path(now, p, target, predicted) - now.flow[index(p)] * direction.reduced[index(p)]) /
          now.reduced[index(p)];
    }
  }
}

Steps NewtonSystem::steps(const Iterate& now, const Direction& direction, double kept) const {
  Steps steps;
  for (std::size_t c = 0; c < now.slack.size(); ++c) {
    limit(steps.flow, now.slack[c], direction.slack[c], kept);
    limit(steps.length, now.lengths[c], direction.lengths[c], kept);
  }
  for (const PairId pair : now.active)
    for (PathId p = columns_.first(pair); p >= 0; p = columns_.next(p)) {
      limit(steps.flow, now.flow[index(p)], direction.flow[index(p)], kept);
      limit(steps.length, now.reduced[index(p)], direction.reduced[index(p)], kept);
    }
  return steps;
}

double NewtonSystem::mean_product(const Iterate& now) const {
  double sum = 0;
  std::size_t count = now.slack.size();
  for (std::size_t c = 0; c < now.slack.size(); ++c) sum += now.slack[c] * now.lengths[c];
  for (const PairId pair : now.active)
    for (PathId p = columns_.first(pair); p >= 0; p = columns_.next(p), ++count) {
      if (now.reduced[index(p)] > 0) sum += now.flow[index(p)] * now.reduced[index(p)];
    }
  return sum / static_cast<double>(count);
}

double NewtonSystem::mean_product(const Iterate& now, const Direction& direction, Steps steps) const {
  double sum = 0;
  std::size_t count = now.slack.size();
  for (std::size_t c = 0; c < now.slack.size(); ++c)
    sum += (now.slack[c] + steps.flow * direction.slack[c]) * (now.lengths[c] + steps.length * direction.lengths[c]);
  for (const PairId pair : now.active)
    for (PathId p = columns_.first(pair); p >= 0; p = columns_.next(p), ++count)
      sum += (now.flow[index(p)] + steps.flow * direction.flow[index(p)]) *
             (now.reduced[index(p)] + steps.length * direction.reduced[index(p)]);
  return sum / static_cast<double>(count);
}

void NewtonSystem::move(Iterate& now, const Direction& direction, Steps steps) const {
  now.top += steps.flow * direction.top;
  for (std::size_t c = 0; c < now.slack.size(); ++c) {
    now.slack[c] += steps.flow * direction.slack[c];
    now.lengths[c] += steps.length * direction.lengths[c];
  }
  for (const PairId pair : now.active)
    for (PathId p = columns_.first(pair); p >= 0; p = columns_.next(p)) {
      now.flow[index(p)] += steps.flow * direction.flow[index(p)];
      now.reduced[index(p)] += steps.length * direction.reduced[index(p)];
    }
}

}  // namespace colltopo::synthesis
