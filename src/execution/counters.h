// Counts of what a process did, kept per communicator by its own thread and summed when read.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <vector>

#include "colltopo/algorithms.h"
#include "colltopo/colltopo.h"

namespace colltopo {

enum class Counter : std::size_t {
  calls,
  bytes,
  fallbacks,
  plan_hits,
  messages,
  bytes_sent,
  messages_between_nodes,
  bytes_between_nodes
};
inline constexpr std::size_t k_fixed_counters = 8;

/// One communicator's counts. One thread adds, any thread may read.
class Counts {
 public:
  Counts();
  ~Counts();
  Counts(const Counts&) = delete;
  Counts& operator=(const Counts&) = delete;

  void add(Counter counter, unsigned long long by) noexcept { add_at(static_cast<std::size_t>(counter), by); }
  /// Calls served by the row of the algorithm table; files have a count of their own after the rows.
  void add_call_of(std::size_t row) noexcept { add_at(k_fixed_counters + row, 1); }
  unsigned long long value(std::size_t index) const noexcept { return values_[index].load(std::memory_order_relaxed); }

 private:
  void add_at(std::size_t index, unsigned long long by) noexcept {
    // A single writer: load and store need not be one operation.
    values_[index].store(values_[index].load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
  }
  std::vector<std::atomic<unsigned long long>> values_;
};

/// Names and descriptions, ended by a null name.
const std::vector<colltopo_counter>& counter_table();
/// Sum over all communicators of the process, past and present.
unsigned long long counter_value(std::size_t index);

}  // namespace colltopo
