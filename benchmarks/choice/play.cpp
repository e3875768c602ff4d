#include "choice/play.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/random.h"

namespace colltopo::replay {

namespace {

constexpr std::array k_times_native = {0.7, 0.85, 0.9, 0.94, 1.0, 1.06, 1.1, 1.2, 1.4};
constexpr std::array k_times_best = {1.0, 1.1, 1.3, 1.45};  // of ours
constexpr double k_native_seconds = 1e-4;
constexpr std::size_t k_jobs_of_a_series = 9;  // times those of a cell
constexpr double k_off = 1.05;
constexpr double k_agreement = 0.5;  // calls of the best

struct Job {
  double seconds = 0;
  std::size_t explored = 0, best = 0;
};

Job play_job(Times& times, Policy& policy, std::size_t calls, double best_mean) {
  Job job;
  for (std::size_t call = 0; call < calls; ++call) {
    const Policy::Call now = policy.next();
    if (now.agreed) job.seconds += k_agreement * best_mean;
    if (now.explores) ++job.explored;
    job.seconds += times.mean(now.contestant);
    policy.took(times.next(now.contestant));
  }
  job.best = policy.best();
  return job;
}

// An approximate normal number, the same on every machine: the sum of twelve even ones.
double normal(Lots& lots) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += static_cast<double>(lots.below(1u << 20)) * 0x1p-20;
  return sum;
}

Start start_of(const Times& times, std::optional<double> tune_error, Lots& lots) {
  Start start;
  start.tune_error = tune_error.value_or(0);
  for (std::size_t c = 0; c < times.contestants(); ++c) {
    std::optional<double> expected;
    if (tune_error) expected = times.mean(c) * std::exp(*tune_error * normal(lots));
    start.expected.push_back(expected);
  }
  return start;
}

using MakeTimes = std::function<std::unique_ptr<Times>(std::size_t cell, Lots& lots)>;

std::vector<Result> play(const std::string& name, std::size_t cells, const MakeTimes& make, std::optional<double> error,
                         const MakePolicy& make_policy, const Asked& asked) {
  std::vector<Result> results;
  for (const std::size_t calls : asked.calls) {
    Result result{name, error, calls};
    const std::size_t jobs =
        (calls > k_long_calls ? asked.long_jobs : asked.jobs) * (cells == 1 ? k_jobs_of_a_series : 1);
    for (std::size_t cell = 0; cell < cells; ++cell) {
      Lots lots(asked.seed * 1000 + cell);
      for (std::size_t repeat = 0; repeat < jobs; ++repeat) {
        if (asked.progress) asked.progress(name, calls, cell * jobs + repeat, cells * jobs);
        const std::unique_ptr<Times> times = make(cell, lots);
        double best_mean = times->mean(0);
        for (std::size_t c = 1; c < times->contestants(); ++c) best_mean = std::min(best_mean, times->mean(c));
        const std::unique_ptr<Policy> policy = make_policy(start_of(*times, error, lots));
        const Job job = play_job(*times, *policy, calls, best_mean);
        result.regret += job.seconds / (static_cast<double>(calls) * best_mean) - 1;
        result.off += times->mean(job.best) > k_off * best_mean ? 1 : 0;
        result.explored += static_cast<double>(job.explored);
      }
    }
    const auto played = static_cast<double>(cells * jobs);
    result.regret /= played;
    result.off /= played;
    result.explored /= played;
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace

std::vector<Result> play(const Noise& noise, std::optional<double> tune_error, const MakePolicy& policy,
                         const Asked& asked) {
  const auto make = [&](std::size_t cell, Lots& lots) {
    std::vector<double> means;
    for (const double behind : k_times_best) means.push_back(k_times_native[cell] * behind * k_native_seconds);
    lots.shuffle(means);
    means.push_back(k_native_seconds);
    return made_times(noise, std::move(means), lots.below(std::uint64_t{1} << 62));
  };
  return play(noise.name, k_times_native.size(), make, tune_error, policy, asked);
}

std::vector<Result> play(const Series& series, std::optional<double> tune_error, const MakePolicy& policy,
                         const Asked& asked) {
  const auto make = [&](std::size_t, Lots& lots) {
    std::vector<std::size_t> order(series.rows.size() - 1);
    std::iota(order.begin(), order.end(), std::size_t{0});
    lots.shuffle(order);
    order.push_back(order.size());
    return recorded_times(series, std::move(order), lots.below(std::uint64_t{1} << 62));
  };
  return play(series.name, 1, make, tune_error, policy, asked);
}

}  // namespace colltopo::replay
