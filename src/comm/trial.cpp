#include "comm/trial.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace colltopo {

namespace {

constexpr std::size_t k_first_calls = 3;   // of a turn of the first stage, of which the first does not count
constexpr std::size_t k_second_calls = 5;  // the same of the second stage
constexpr std::size_t k_third_calls = 13;  // of the third, if calls are short
constexpr double k_short_ns = 4e6;         // the best contestant's
constexpr std::size_t k_most_second = 3;   // contestants of the second stage, the best of the first
constexpr double k_far_behind = 1.5;       // times the best of the first stage: out
constexpr double k_twice_behind = 1.25;    // the same of who is expected to be more than k_behind times it
constexpr double k_hopeless = 3;           // the same of who is expected to be at most k_behind times it
constexpr double k_behind = 1.15;          // times the best of the second stage: out
constexpr int k_turns = 2;                 // of each in the second and third stage
constexpr int k_brief_turns = 1;           // of each in the second one of a brief trial, backwards
constexpr int k_stages = 3;                // in the last and after it, those that are left go on
constexpr int k_brief_stages = 2;          // in which all calls count
constexpr int k_last_turns = 4;            // of each after the last stage, where they are as close as
constexpr double k_close_race = 0.08;      // of the previous implementation's time, as measured
constexpr double k_close_lead = 0.06;      // the same with what is expected
constexpr double k_winning_margin = 0.96;  // of the previous implementation's time, that a winner stays below
constexpr double k_expected = 0.5;         // of the lead that decides is the expected one, at least
constexpr double k_expected_late = 0.2;    // the same after the many calls of those turns
constexpr double k_expected_brief = 0.8;   // the same of calls that are nothing beside their meetings
constexpr double k_most_expected = 0.25;   // of the time of who is behind, that it is taken for
constexpr double k_longest = 2;            // medians, that a call of a row counts for
constexpr double k_resolution_ns = 250;    // and by this per rank, which so few calls tell apart

// Seconds of one call of a row whose calls are long and short by turns, as ranks run ahead of each other and wait: all
// of them together are the row. What is disturbed counts for no more than the longest of those.
double mean_of_row(const std::vector<double>& seconds, double median) {
  double sum = 0;
  for (const double one : seconds) sum += std::min(one, k_longest * median);
  return sum / static_cast<double>(seconds.size());
}

}  // namespace

Trial::Trial(std::vector<std::optional<double>> expected, bool previous_is_last, TrialKind kind)
    : previous_is_last_(previous_is_last),
      kind_(kind),
      expected_(std::move(expected)),
      left_(expected_.size()),
      times_(expected_.size()),
      sums_(expected_.size(), -1) {
  std::iota(left_.begin(), left_.end(), std::size_t{0});
  begin_stage(k_first_calls, 1);
}

// Every other turn goes back.
void Trial::begin_stage(std::size_t calls, int turns) {
  turns_.clear();
  place_ = 0;
  if (kind_ != TrialKind::brief && stage_ < k_stages - 1)
    for (auto& times : times_) times.clear();
  std::vector<std::size_t> order = left_;
  if (kind_ == TrialKind::brief && stage_ > 0) std::ranges::reverse(order);
  for (int turn = 0; turn < turns; ++turn) {
    for (const std::size_t contestant : order)
      for (std::size_t call = 0; call < calls; ++call) turns_.push_back({contestant, call > 0});
    std::ranges::reverse(order);
  }
}

std::size_t Trial::calls_of_a_turn(std::size_t best, int ranks) const {
  if (kind_ != TrialKind::as_they_come) return k_first_calls;
  const bool are_many = stage_ >= k_stages - 1 && static_cast<double>(sums_[best]) < k_short_ns * ranks;
  return are_many ? k_third_calls : k_second_calls;
}

void Trial::add(std::size_t contestant, double seconds) { times_[contestant].push_back(seconds); }

std::vector<long long> Trial::times() const {
  std::vector<long long> all;
  for (std::vector<double> times : times_) {
    std::ranges::sort(times);
    const std::size_t n = times.size();
    // Of two, the smaller: what disturbs a call makes it longer.
    const double median = n == 0 ? 0 : n <= 2 ? times[0] : (times[(n - 1) / 2] + times[n / 2]) / 2;
    const double seconds = n == 0 || kind_ != TrialKind::as_they_come ? median : mean_of_row(times, median);
    all.push_back(n == 0 ? k_no_time : std::min(k_no_time, static_cast<long long>(seconds * 1e9)));
  }
  return all;
}

// Who is expected to be close before others: in the first stage two calls decide.
void Trial::keep_best(const std::vector<double>& judged) {
  if (left_.size() <= k_most_second) return;
  std::ranges::stable_sort(left_, {}, [&](std::size_t c) { return std::pair(!is_expected_close(c), judged[c]); });
  left_.resize(k_most_second);
  std::ranges::sort(left_);
}

void Trial::narrow(std::span<const long long> sums, int ranks) {
  for (const std::size_t contestant : left_) sums_[contestant] = sums[contestant];
  const std::vector<double> judged = this->judged();
  const auto best_of = [&](const std::vector<std::size_t>& some) {
    return std::ranges::min_element(some, {}, [&](std::size_t c) { return judged[c]; });
  };
  const std::size_t best = *best_of(left_);
  const std::size_t previous = sums_.size() - 1;
  // Whoever is out was measured beside those that were in then, and not later ones.
  const bool had_previous = previous_is_last_ && left_.back() == previous;
  if (++stage_ < (kind_ == TrialKind::brief ? k_brief_stages : k_stages)) {
    std::erase_if(left_, [&](std::size_t c) { return is_out(c, judged[c] / judged[best]); });
    keep_best(judged);
    if (had_previous && left_.back() != previous && !beats_previous(best, ranks)) left_.push_back(previous);
    const int turns = kind_ == TrialKind::brief ? k_brief_turns : k_turns;
    if (left_.size() > 1) return begin_stage(calls_of_a_turn(best, ranks), turns);
  }
  winner_ = best;
  if (had_previous) {
    std::erase(left_, previous);
    winner_ = previous;
    if (!left_.empty()) {
      const std::size_t challenger = *best_of(left_);
      if (kind_ != TrialKind::brief && stage_ == k_stages && is_close_to_previous(challenger, ranks)) {
        winner_.reset();
        left_ = {challenger, previous};
        return begin_stage(calls_of_a_turn(challenger, ranks), k_last_turns);
      }
      if (beats_previous(challenger, ranks)) winner_ = challenger;
    }
  }
  turns_.clear();
  place_ = 0;
}

// [contestant]: what they are compared by. Where something is expected of all that are left, the geometric mean of that
// and of the sums, a square root, as its bits are the same on all ranks; not in the first stage, where nobody is out
// who is close in either.
std::vector<double> Trial::judged() const {
  std::vector<double> judged(sums_.begin(), sums_.end());
  if (stage_ == 0 || !std::ranges::all_of(left_, [&](std::size_t c) { return expected_[c].has_value(); }))
    return judged;
  const double least = *expected_[*std::ranges::min_element(left_, {}, [&](std::size_t c) { return *expected_[c]; })];
  for (const std::size_t c : left_) {
    const double behind = std::min(*expected_[c] / least, 1 + k_most_expected);
    judged[c] = std::sqrt(judged[c] * behind);
  }
  return judged;
}

// After the stage before this one.
bool Trial::is_out(std::size_t contestant, double times_the_best) const {
  if (stage_ > 1) return times_the_best > k_behind;
  if (!expected_[contestant]) return times_the_best > k_far_behind;
  return times_the_best > (is_expected_close(contestant) ? k_hopeless : k_twice_behind);
}

bool Trial::is_expected_close(std::size_t contestant) const {
  const std::optional<double>& own = expected_[contestant];
  return own && std::ranges::all_of(
                    expected_, [&](const std::optional<double>& other) { return !other || *own <= k_behind * *other; });
}

// In the sums' nanoseconds.
double Trial::lead_over_previous(std::size_t contestant, int ranks) const {
  const auto of_previous = static_cast<double>(sums_.back());
  const double lead = of_previous - static_cast<double>(sums_[contestant]);
  if (!expected_[contestant] || !expected_.back()) return lead;
  const double most = k_most_expected * of_previous;
  const double expected = (*expected_.back() - *expected_[contestant]) * 1e9 * ranks;
  return lead + share_of_expected(ranks) * (std::clamp(expected, -most, most) - lead);
}

// What calls of a brief trial take beyond what is expected of them are their meetings, that say nothing but are as
// noisy.
double Trial::share_of_expected(int ranks) const {
  if (stage_ > k_stages) return k_expected_late;
  if (kind_ != TrialKind::brief) return k_expected;
  const double calls = *expected_.back() * 1e9 * ranks / static_cast<double>(sums_.back());
  return std::clamp(1 - (1 - k_expected) * calls, k_expected, k_expected_brief);
}

bool Trial::beats_previous(std::size_t contestant, int ranks) const {
  const auto of_previous = static_cast<double>(sums_.back());
  return lead_over_previous(contestant, ranks) >=
         std::max(k_resolution_ns * ranks, (1 - k_winning_margin) * of_previous);
}

// By what was measured, or by that and what is expected.
bool Trial::is_close_to_previous(std::size_t contestant, int ranks) const {
  const auto of_previous = static_cast<double>(sums_.back());
  const double measured = of_previous - static_cast<double>(sums_[contestant]);
  return std::abs(measured) <= k_close_race * of_previous ||
         std::abs(lead_over_previous(contestant, ranks)) <= k_close_lead * of_previous;
}

double Trial::seconds(std::size_t contestant, int ranks) const {
  const long long sum = sums_[contestant];
  return sum < 0 || sum >= k_no_time ? -1 : static_cast<double>(sum) * 1e-9 / ranks;
}

}  // namespace colltopo
