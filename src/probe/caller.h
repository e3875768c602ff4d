// One call of a collective, timed as programs make them.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

#include "colltopo/collective.h"
#include "probe/counters.h"

namespace colltopo::probe {

double median_of(std::vector<double> seconds);

/// What the last meetings took, on all ranks alike: short ones drift with the machine, and a few are not enough to know
/// them by.
class Meetings {
 public:
  void add(const std::vector<double>& seconds);
  double median() const { return median_of(seconds_); }

 private:
  std::vector<double> seconds_;
};

/// Bytes as in Request. Numbers are whole: any order of a sum has the same bits.
class Caller {
 public:
  /// `counters`: null but on rank 0.
  Caller(MPI_Comm comm, const Counters* counters, Meetings& meetings, Collective collective, std::size_t bytes);

  /// [block] of a call, as the slowest rank has it, of `calls` in a row after all have begun together. Between blocks
  /// there is nothing but a barrier, as more messages would slow down what follows them. In calls with a root ranks
  /// would run ahead of each other, which is faster than one call by some algorithms and not by others: after each
  /// they meet, and what that takes is measured and taken off.
  std::vector<double> seconds(int blocks, int calls);
  /// All calls so far, by the component or by nobody else than the previous one.
  bool was_always(bool served) const;

 private:
  void call();
  unsigned long long served_calls() const { return counters_ == nullptr ? 0 : counters_->value("calls"); }
  std::vector<double> less_meetings(const std::vector<double>& pairs);

  MPI_Comm comm_;
  const Counters* counters_;
  Meetings& meetings_;
  Collective collective_;
  int count_;
  std::vector<int> counts_, in_, out_;
  bool was_served_ = false, was_declined_ = false;  // rank 0's
};

}  // namespace colltopo::probe
