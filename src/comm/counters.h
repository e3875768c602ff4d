// Counts of what a process did. A call costs one increment: what a run of a bound plan adds is noted once, when it is
// bound, and multiplied when somebody reads.
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
  bytes_between_nodes,
  messages_on_lanes,
  operations,
  trial_calls,
  trials,
  trials_for_previous
};
inline constexpr std::size_t k_fixed_counters = 13;

/// A number that one thread increases and any may read. Load and store need not be one operation.
class Count {
 public:
  void increase() noexcept { shared().store(value() + 1, std::memory_order_relaxed); }
  unsigned long long value() const noexcept { return shared().load(std::memory_order_relaxed); }
  /// For one who increases it from C.
  unsigned long long* number() noexcept { return &value_; }

 private:
  using Shared = std::atomic_ref<unsigned long long>;
  Shared shared() const noexcept { return Shared(value_); }

  alignas(Shared::required_alignment) mutable unsigned long long value_ = 0;
};

/// The runs of one plan, and what each of them adds to the counters. Everything but `runs` changes under a lock.
class Tally {
 public:
  /// `row`: of the algorithm table; files have the row after the last.
  explicit Tally(std::size_t row);
  ~Tally();
  Tally(const Tally&) = delete;
  Tally& operator=(const Tally&) = delete;

  void ran() noexcept { runs_.increase(); }
  /// What a run adds from now on.
  void bind(const std::array<unsigned long long, k_fixed_counters>& per_run);
  /// Adds what it stands for to `values`.
  void add_to(std::vector<unsigned long long>& values) const;

 private:
  Count runs_;
  unsigned long long runs_before_ = 0;  // with earlier bindings, whose sums are in the process's past
  std::array<unsigned long long, k_fixed_counters> per_run_{};
  std::size_t row_;
};

/// One communicator's count of something.
class OwnCount {
 public:
  explicit OwnCount(Counter counter);
  ~OwnCount();
  OwnCount(const OwnCount&) = delete;
  OwnCount& operator=(const OwnCount&) = delete;

  void increase() noexcept { count_.increase(); }
  Counter counter() const noexcept { return counter_; }
  unsigned long long value() const noexcept { return count_.value(); }
  unsigned long long* number() noexcept { return count_.number(); }

 private:
  Counter counter_;
  Count count_;
};

/// Of the trials of a communicator (comm/guard.h).
struct TrialCounts {
  OwnCount calls{Counter::trial_calls}, trials{Counter::trials}, for_previous{Counter::trials_for_previous};
};

/// Names and descriptions, ended by a null name.
const std::vector<colltopo_counter>& counter_table();
/// Sum over all communicators of the process, past and present.
unsigned long long counter_value(std::size_t index);

}  // namespace colltopo
