#include "choice/race.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

namespace colltopo {

namespace {

constexpr double k_most_medians = 2;     // that a call of a block counts for
constexpr double k_least_behind = 0.02;  // that a block of a contestant costs, of its calls
constexpr double k_most_behind = 2;      // logarithm
constexpr double k_most_error = 0.5;     // of a difference that nobody knows

// Of a normal number of variance 1, how far it is above `u` on average, where it is.
double expected_excess(double u) {
  const double density = std::exp(-u * u / 2) / std::sqrt(2 * std::numbers::pi);
  return density - u * 0.5 * std::erfc(u / std::numbers::sqrt2);
}

}  // namespace

Block block_of(std::vector<double> seconds) {
  std::ranges::sort(seconds);
  const std::size_t n = seconds.size();
  const double median = n <= 2 ? seconds[0] : (seconds[(n - 1) / 2] + seconds[n / 2]) / 2;
  double sum = 0, logarithms = 0, squares = 0;
  for (const double one : seconds) {
    const double counted = std::min(one, k_most_medians * median);
    sum += counted;
    logarithms += std::log(counted);
    squares += std::log(counted) * std::log(counted);
  }
  const double calls = static_cast<double>(n);
  const double scatter = n < 2 ? 0 : (squares - logarithms * logarithms / calls) / (calls - 1);
  return {std::sqrt(median * sum / calls), std::max(scatter, 0.0)};
}

Race::Race(std::vector<Belief> beliefs, std::size_t serving, const RaceRules& rules)
    : rules_(rules),
      beliefs_(std::move(beliefs)),
      pairs_(beliefs_.size() * beliefs_.size()),
      seen_(beliefs_.size()),
      noise_squares_(rules.noise * rules.noise * rules.noise_calls),
      noise_weight_(rules.noise_calls),
      best_(serving),
      block_calls_(static_cast<double>(rules.block_calls)),
      agreement_calls_(rules.agreement_calls) {
  find_best();
}

Belief Race::behind(std::size_t contestant, std::size_t other) const {
  const Belief before{beliefs_[contestant].log_seconds - beliefs_[other].log_seconds,
                      beliefs_[contestant].variance + beliefs_[other].variance};
  const Pair& seen = pair(contestant, other);
  if (seen.calls <= 0) return before;
  const double unsure = 1 + rules_.few_rounds / (seen.rounds * seen.rounds);
  return before.merged({seen.difference, 2 * noise_variance() / seen.calls * unsure});
}

Belief Race::belief(std::size_t contestant) const {
  const auto own = [&](std::size_t c) {
    if (seen_[c].calls <= 0) return beliefs_[c];
    return beliefs_[c].merged({seen_[c].log_seconds, noise_variance() / seen_[c].calls});
  };
  const Belief of_best = own(best_);
  if (contestant == best_) return of_best;
  const Belief gap = behind(contestant, best_);
  // Against one of whom nothing is known, a difference says nothing.
  if (!gap.is_known() || !of_best.is_known()) return own(contestant);
  return {of_best.log_seconds + gap.log_seconds, gap.variance};
}

void Race::find_best() {
  for (std::size_t turn = 0; turn < beliefs_.size(); ++turn) {
    std::size_t ahead = best_;
    double least = 0;
    for (std::size_t c = 0; c < beliefs_.size(); ++c) {
      if (c == best_) continue;
      const Belief behind_best = behind(c, best_);
      if (behind_best.is_known() && behind_best.log_seconds < least) {
        least = behind_best.log_seconds;
        ahead = c;
      }
    }
    if (ahead == best_) return;
    best_ = ahead;
  }
}

// Worth it is what may be gained in as many calls as there were, and first_calls.
double Race::calls_until_worth(std::size_t contestant) const {
  const Belief gap = behind(contestant, best_);
  const double error = std::sqrt(gap.variance);
  const double gain_of_call =
      std::min(error, k_most_error) * expected_excess((gap.log_seconds + rules_.difference) / error);
  const double cost =
      std::floor(block_calls_) * std::expm1(std::clamp(gap.log_seconds, k_least_behind, k_most_behind)) +
      agreement_calls_ / 2;
  return gain_of_call <= 0 ? std::numeric_limits<double>::infinity() : cost / gain_of_call - rules_.first_calls;
}

std::size_t Race::block_calls() const { return static_cast<std::size_t>(block_calls_); }

Race::Plan Race::plan(std::size_t calls) const {
  constexpr double k_never = 1e15;
  double next = k_never;
  for (std::size_t c = 0; c < beliefs_.size(); ++c)
    if (c != best_) next = std::min(next, calls_until_worth(c));
  // Exploring has cost what it may have cost by then.
  next = std::max({next, (spent_ - rules_.start_calls) / rules_.share, static_cast<double>(calls)});
  next = std::min(std::ceil(next), k_never);
  Plan plan{{}, block_calls(), best_, static_cast<std::size_t>(next) - calls};
  for (std::size_t c = 0; c < beliefs_.size(); ++c)
    if (c == best_ || calls_until_worth(c) <= next) plan.order.push_back(c);
  if (rounds_ % 2 == 1) std::ranges::reverse(plan.order);
  return plan;
}

void Race::ended(const Plan& plan, std::span<const Block> blocks, double agreement_seconds) {
  const double calls = static_cast<double>(plan.block_calls - 1);
  if (rounds_ == 0) {  // which compares nothing with what was seen before
    for (const Block& one : blocks) noise_squares_ += (calls - 1) * one.scatter;
    noise_weight_ += (calls - 1) * static_cast<double>(blocks.size());
  }
  const auto error_of = [&](const Pair& seen) { return 2 / calls + 2 / seen.calls; };
  const double noise = std::sqrt(noise_variance());
  double squares = 0, differences = 0;
  for (std::size_t i = 0; i < plan.order.size(); ++i) {
    for (std::size_t j = 0; j < plan.order.size(); ++j) {
      if (i == j) continue;
      Pair& seen = pair(plan.order[i], plan.order[j]);
      double difference = std::log(blocks[i].seconds / blocks[j].seconds);
      if (seen.calls > 0) {
        const double most = rules_.most_errors * noise * std::sqrt(error_of(seen));
        const double surprise = std::clamp(difference - seen.difference, -most, most);
        difference = seen.difference + surprise;
        squares += surprise * surprise / error_of(seen);
        ++differences;
      }
      seen.difference = (seen.difference * seen.calls + difference * calls) / (seen.calls + calls);
      seen.calls += calls;
      ++seen.rounds;
    }
  }
  if (differences > 0) {
    const double freedom = static_cast<double>(plan.order.size() - 1);
    noise_squares_ += freedom * squares / differences;
    noise_weight_ += freedom;
  }
  for (std::size_t i = 0; i < plan.order.size(); ++i) {
    Seen& seen = seen_[plan.order[i]];
    seen.log_seconds = (seen.log_seconds * seen.calls + std::log(blocks[i].seconds) * calls) / (seen.calls + calls);
    seen.calls += calls;
  }
  const auto of_best = std::ranges::find(plan.order, best_);
  const double best_seconds = blocks[static_cast<std::size_t>(of_best - plan.order.begin())].seconds;
  for (const Block& one : blocks)
    spent_ += static_cast<double>(plan.block_calls) *
              std::clamp(one.seconds / best_seconds - 1, 0.0, std::exp(k_most_behind));
  if (agreement_seconds > 0) agreement_calls_ = agreement_seconds / best_seconds;
  spent_ += agreement_calls_;
  ++rounds_;
  block_calls_ = std::min(static_cast<double>(rules_.most_block_calls), block_calls_ * rules_.growth);
  find_best();
}

}  // namespace colltopo
