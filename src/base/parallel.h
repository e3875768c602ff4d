// Work per source, spread over threads with the same outcome for any number of them: each index writes what is its own,
// and of several errors the one of the lowest index is thrown.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>
#include <vector>

namespace colltopo {

/// 0 means all cores.
inline unsigned worker_count(int threads) {
  return threads > 0 ? static_cast<unsigned>(threads) : std::max(1U, std::thread::hardware_concurrency());
}

/// The same, but not more than there is to do.
inline unsigned worker_count(int threads, std::size_t count) {
  return static_cast<unsigned>(std::min<std::size_t>(worker_count(threads), std::max<std::size_t>(count, 1)));
}

/// Calls work(index, worker) once for every index below `count`, on worker_count(threads) threads: the worker's number
/// selects scratch memory.
template <typename Work>
void for_each_index(std::size_t count, int threads, const Work& work) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::size_t failed = std::numeric_limits<std::size_t>::max();
  std::exception_ptr error;
  const auto run = [&](unsigned worker) {
    for (std::size_t index = next++; index < count; index = next++) {
      try {
        work(index, worker);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (index > failed) continue;
        failed = index;
        error = std::current_exception();
      }
    }
  };
  {
    std::vector<std::jthread> pool;
    const std::size_t workers = std::min<std::size_t>(worker_count(threads), count);
    for (unsigned worker = 1; worker < workers; ++worker) pool.emplace_back(run, worker);
    run(0);
  }
  if (error) std::rethrow_exception(error);
}

/// `make` for every index below `count`, as for_each_index does, and `use` of what it made in the order of indices, on
/// the caller's thread. No more than 64 wait to be used at a time, for they may be large.
template <typename Made, typename Make, typename Use>
void make_in_order(std::size_t count, int threads, const Make& make, const Use& use) {
  constexpr std::size_t k_at_once = 64;
  std::vector<Made> made;
  for (std::size_t first = 0; first < count; first += k_at_once) {
    made.resize(std::min(k_at_once, count - first));
    for_each_index(made.size(), threads, [&](std::size_t i, unsigned) { made[i] = make(first + i); });
    for (const Made& one : made) use(one);
  }
}

}  // namespace colltopo
