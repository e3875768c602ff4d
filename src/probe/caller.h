// Calls of a collective, timed as programs make them.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

#include "colltopo/collective.h"
#include "probe/counters.h"
#include "probe/middle.h"
#include "probe/run_order.h"

namespace colltopo::probe {

/// Calls in a row after all ranks have begun together, in any order. Between rows there is nothing but a barrier, as
/// more messages would slow down what follows them.
class Rows {
 public:
  explicit Rows(RunOrder& order) : order_(&order) {}

  /// Collective.
  template <class Do>
  void time(int calls, const Do& what) {
    order_->shuffle();
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int i = 0; i < calls; ++i) what();
    own_.push_back((MPI_Wtime() - start) / calls);
  }
  /// Collective: s a call, as the slowest rank has it, of every row since the last time.
  std::vector<double> slowest();

 private:
  RunOrder* order_;
  std::vector<double> own_;
};

/// Of all ranks. In calls with a root ranks would run ahead of each other, which is faster than one call by some
/// algorithms and not by others: after each they meet, and what that takes is measured and taken off.
class Meetings {
 public:
  explicit Meetings(RunOrder& order);
  void time(int calls);
  /// As Rows::slowest.
  std::vector<double> slowest();
  /// Of the last rows, on all ranks alike: short ones drift with the machine, and a few are not enough to know them by.
  double median() const { return median_of(last_); }
  /// s, on all ranks alike: what a row takes besides its calls, as ranks leave the barrier before it one after the
  /// other.
  double of_a_row() const { return of_a_row_; }

 private:
  Rows rows_;
  double of_a_row_ = 0;
  std::vector<double> last_;
};

/// What calls send and receive, of all who call in turns: what is in it does not matter.
struct Buffers {
  std::vector<int> counts, in, out;
};

/// Bytes as in Request. Numbers are whole: any order of a sum has the same bits.
class Caller {
 public:
  /// `counters`: null but on rank 0. Of several that share `buffers` at a time all have this collective and size.
  Caller(MPI_Comm comm, const Counters* counters, Buffers& buffers, RunOrder& order, Collective collective,
         std::size_t bytes);

  /// A row of calls and, where there is a root, of the meetings after them.
  void time(int calls);
  /// As Rows::slowest.
  std::vector<double> slowest() { return rows_.slowest(); }
  /// All calls so far, by the component or by nobody else than the previous one.
  bool was_always(bool served) const;

 private:
  void call();
  unsigned long long served_calls() const { return counters_ == nullptr ? 0 : counters_->value("calls"); }

  MPI_Comm comm_;
  const Counters* counters_;
  Collective collective_;
  Buffers& buffers_;
  int count_;
  Rows rows_;
  bool was_served_ = false, was_declined_ = false;  // rank 0's
};

}  // namespace colltopo::probe
