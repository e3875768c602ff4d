// Plays a policy over many jobs of one class of calls, and says what it cost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "choice/noise.h"
#include "choice/policy.h"

namespace colltopo::replay {

using MakePolicy = std::function<std::unique_ptr<Policy>(const Start&)>;

struct Asked {
  std::vector<std::size_t> calls = {1000, 10'000, 100'000};
  std::size_t jobs = 400, long_jobs = 60;  // of a cell; long: above k_long_calls
  std::uint64_t seed = 1;
  /// Told before each job: what is played, calls of a job, jobs done and in all; may be empty.
  std::function<void(const std::string&, std::size_t, std::size_t, std::size_t)> progress;
};
inline constexpr std::size_t k_long_calls = 20'000;

struct Result {
  std::string noise;
  std::optional<double> tune_error;
  std::size_t calls = 0;
  double regret = 0;    // what the calls took beyond as many of the best, over those; by true means
  double off = 0;       // part of jobs whose best at the end is more than 5% off
  double explored = 0;  // calls of a job
};

/// Over nine classes: the best of four of ours at so many times Open MPI's own, the others behind it.
std::vector<Result> play(const Noise& noise, std::optional<double> tune_error, const MakePolicy& policy,
                         const Asked& asked);
/// Over a recorded file, its rows of ours in ever other orders.
std::vector<Result> play(const Series& series, std::optional<double> tune_error, const MakePolicy& policy,
                         const Asked& asked);

}  // namespace colltopo::replay
