#include "timing.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "probe/meet.h"
#include "probe/run_order.h"

namespace colltopo::bench {

namespace {

constexpr double k_block_s = 0.5e-3;  // long against the clock and the barrier, short against the machine's moods
constexpr long k_block_calls = 1000;
constexpr long k_blocks_most = 200;
constexpr long k_blocks_least = 11;
constexpr long k_calls_in_a_row = 5, k_blocks_of_many = 400;  // where the number of calls is given

double block_s(const std::function<void()>& call, long calls, double pause_s, RunOrder& order, MPI_Comm control) {
  order.shuffle();
  meet(control);
  // Who leaves the barrier first would fill the queues before which the others' last messages of it wait.
  if (pause_s > 0) std::this_thread::sleep_for(std::chrono::duration<double>(pause_s));
  const double begin = MPI_Wtime();
  for (long i = 0; i < calls; ++i) call();
  return (MPI_Wtime() - begin) / static_cast<double>(calls);
}

// All ranks must make the same number of calls. Several in a row, as programs make them and `colltopo tune` does, where
// that leaves blocks enough for a median.
Pace pace_of_calls(long calls) {
  Pace pace;
  pace.blocks = std::min(std::clamp(calls / k_calls_in_a_row, k_blocks_least, k_blocks_of_many), calls);
  pace.calls = std::min((calls + pace.blocks - 1) / pace.blocks, k_block_calls);
  pace.blocks = (calls + pace.calls - 1) / pace.calls;
  return pace;
}

// Decided from a maximum over ranks.
Pace pace_for(std::span<const std::function<void()>> calls, const Effort& effort, RunOrder& order, MPI_Comm control) {
  if (effort.calls > 0) return pace_of_calls(effort.calls);
  double call_s = 0;
  for (const auto& call : calls)
    call_s = std::max(call_s, slowest(block_s(call, k_calls_in_a_row, effort.pause_s, order, control), control));
  call_s = std::max(call_s, 1e-9);
  Pace pace;
  pace.calls = std::clamp(std::lround(k_block_s / call_s), 1L, k_block_calls);
  pace.blocks = std::clamp(std::lround(effort.seconds / (call_s * static_cast<double>(pace.calls))), k_blocks_least,
                           k_blocks_most);
  return pace;
}

// The calls, each before a barrier, and the barrier alone: a row of them ends when all ranks have what they take.
std::vector<std::function<void()>> before_barriers(std::span<const std::function<void()>> calls, MPI_Comm control) {
  std::vector<std::function<void()>> together;
  for (const auto& call : calls)
    together.emplace_back([&call, control] {
      call();
      meet(control);
    });
  together.emplace_back([control] { meet(control); });
  return together;
}

void take_barriers_off(std::vector<std::vector<double>>& block_times) {
  constexpr double k_least = 0.05;
  const double barrier = quantiles(std::move(block_times.back())).median;
  block_times.pop_back();
  for (auto& times : block_times)
    for (double& time : times) time = std::max(time - barrier, k_least * time);
}

}  // namespace

double slowest(double seconds, MPI_Comm control) {
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, control);
  return seconds;
}

Quantiles quantiles(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  const auto at = [&](double share) {
    const double place = share * static_cast<double>(samples.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, samples.size() - 1);
    return std::lerp(samples[below], samples[above], place - static_cast<double>(below));
  };
  return {at(0.1), at(0.5), at(0.9)};
}

void settle(const std::function<void()>& call, long calls, MPI_Comm control) {
  RunOrder order(control);
  constexpr double k_no_pause = 0;
  for (; calls > 0; calls -= k_calls_in_a_row)
    block_s(call, std::min(calls, k_calls_in_a_row), k_no_pause, order, control);
}

Measured measure(std::span<const std::function<void()>> contending, const Effort& effort, MPI_Comm control) {
  RunOrder order(control);
  const auto contenders = contending.size();
  std::vector<std::function<void()>> calls(contending.begin(), contending.end());
  if (effort.together) calls = before_barriers(contending, control);
  for (const auto& call : calls)
    for (long i = 0; i < effort.warmup; ++i) call();
  const Pace pace = pace_for(calls, effort, order, control);

  std::vector<std::vector<double>> block_times(calls.size());
  for (long block = 0; block < pace.blocks; ++block)
    for (std::size_t turn = 0; turn < calls.size(); ++turn) {
      const std::size_t who = block % 2 == 0 ? turn : calls.size() - 1 - turn;
      block_times[who].push_back(block_s(calls[who], pace.calls, effort.pause_s, order, control) * 1e6);
    }
  for (auto& times : block_times)
    MPI_Allreduce(MPI_IN_PLACE, times.data(), static_cast<int>(times.size()), MPI_DOUBLE, MPI_MAX, control);
  if (effort.together) take_barriers_off(block_times);

  Measured measured;
  measured.pace = pace;
  for (std::size_t who = 0; who < contenders; ++who) {
    Timing timing;
    timing.call_us = quantiles(block_times[who]);
    if (contenders > 1) {
      const auto& other = who + 1 == contenders ? block_times.front() : block_times.back();
      std::vector<double> ratios;
      for (std::size_t block = 0; block < block_times[who].size(); ++block)
        ratios.push_back(block_times[who][block] / other[block]);
      timing.ratio = quantiles(std::move(ratios)).median;
    }
    measured.timings.push_back(timing);
  }
  return measured;
}

}  // namespace colltopo::bench
