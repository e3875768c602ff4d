#include "comm/trial.h"

#include <algorithm>
#include <numeric>

namespace colltopo {

namespace {

constexpr std::size_t k_first_calls = 3;   // of a turn of the first stage, of which the first does not count
constexpr std::size_t k_second_calls = 5;  // the same of the second stage
constexpr std::size_t k_most_second = 3;   // contestants of the second stage, the best of the first
constexpr double k_far_behind = 1.5;       // times the best of the first stage: out
constexpr double k_behind = 1.15;          // times the best of the second stage: out
constexpr int k_stages = 3;                // in the last, those that are left go on as in the second
constexpr int k_brief_stages = 2;          // in which all calls count
constexpr double k_margin = 0.96;          // of the previous implementation's time, that a winner stays below
constexpr double k_most_expected = 0.25;   // of its time, that an expected lead is taken for
constexpr double k_brief_expected = 0.5;   // of the lead that decides is the expected one
constexpr double k_expected = 0.25;        // the same where more calls are measured
constexpr double k_resolution_ns = 100;    // and by this per rank, which so few calls tell apart

}  // namespace

Trial::Trial(std::vector<std::optional<double>> leads, bool previous_is_last, TrialKind kind)
    : previous_is_last_(previous_is_last),
      kind_(kind),
      leads_(std::move(leads)),
      left_(leads_.size()),
      times_(leads_.size()),
      sums_(leads_.size(), -1) {
  std::iota(left_.begin(), left_.end(), std::size_t{0});
  begin_stage(k_first_calls, false);
}

void Trial::begin_stage(std::size_t calls, bool forth_and_back) {
  turns_.clear();
  place_ = 0;
  if (kind_ != TrialKind::brief && stage_ < k_stages - 1)
    for (auto& times : times_) times.clear();
  std::vector<std::size_t> order = left_;
  if (forth_and_back) order.insert(order.end(), left_.rbegin(), left_.rend());
  for (const std::size_t contestant : order)
    for (std::size_t call = 0; call < calls; ++call) turns_.push_back({contestant, call > 0});
}

void Trial::add(std::size_t contestant, double seconds) { times_[contestant].push_back(seconds); }

std::vector<long long> Trial::medians() const {
  std::vector<long long> medians;
  for (std::vector<double> times : times_) {
    std::ranges::sort(times);
    const std::size_t n = times.size();
    // Of two, the smaller: what disturbs a call makes it longer.
    const double median = n == 0 ? 0 : n <= 2 ? times[0] : (times[(n - 1) / 2] + times[n / 2]) / 2;
    medians.push_back(n == 0 ? k_no_time : std::min(k_no_time, static_cast<long long>(median * 1e9)));
  }
  return medians;
}

void Trial::keep_best(std::span<const long long> sums) {
  if (left_.size() <= k_most_second) return;
  std::ranges::stable_sort(left_, {}, [&](std::size_t c) { return sums[c]; });
  left_.resize(k_most_second);
  std::ranges::sort(left_);
}

void Trial::narrow(std::span<const long long> sums, int ranks) {
  for (const std::size_t contestant : left_) sums_[contestant] = sums[contestant];
  const auto best = *std::ranges::min_element(left_, {}, [&](std::size_t c) { return sums[c]; });
  const double most = (stage_ == 0 ? k_far_behind : k_behind) * static_cast<double>(sums[best]);
  if (++stage_ < (kind_ == TrialKind::brief ? k_brief_stages : k_stages)) {
    std::erase_if(left_, [&](std::size_t c) { return static_cast<double>(sums[c]) > most; });
    keep_best(sums);
    if (left_.size() > 1) return begin_stage(kind_ == TrialKind::as_they_come ? k_second_calls : k_first_calls, true);
  }
  winner_ = best;
  if (previous_is_last_) {
    const std::size_t previous = sums_.size() - 1;
    std::erase(left_, previous);
    const auto challenger = std::ranges::min_element(left_, {}, [&](std::size_t c) { return sums[c]; });
    winner_ = challenger != left_.end() && beats_previous(*challenger, ranks) ? *challenger : previous;
  }
  turns_.clear();
  place_ = 0;
}

bool Trial::beats_previous(std::size_t contestant, int ranks) const {
  const std::size_t previous = sums_.size() - 1;
  const auto one = static_cast<double>(sums_[contestant]), of_previous = static_cast<double>(sums_[previous]);
  double lead = of_previous - one;
  if (leads_[contestant]) {
    const double weight = kind_ == TrialKind::brief ? k_brief_expected : k_expected;
    const double most = k_most_expected * of_previous;
    lead += weight * (std::clamp(*leads_[contestant] * 1e9 * ranks, -most, most) - lead);
  }
  return lead >= std::max(k_resolution_ns * ranks, (1 - k_margin) * of_previous);
}

double Trial::seconds(std::size_t contestant, int ranks) const {
  const long long sum = sums_[contestant];
  return sum < 0 || sum >= k_no_time ? -1 : static_cast<double>(sum) * 1e-9 / ranks;
}

}  // namespace colltopo
