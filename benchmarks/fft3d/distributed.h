// Runs a plan: FFTW for the lines, one of MPI's all-to-alls for the exchanges, a clock around each. Nothing is
// allocated after the constructor. Two arrays take turns as the local one and as the message buffer.
#pragma once

#include <fftw3.h>
#include <mpi.h>

#include <complex>
#include <memory>
#include <span>
#include <vector>

#include "plan.h"

namespace colltopo::fft3d {

using Complex = std::complex<double>;

/// Where the time of this rank went, in seconds.
struct Times {
  double compute = 0;
  double pack = 0;
  double exchange = 0;
  double total() const { return compute + pack + exchange; }
};

class Distributed {
 public:
  /// `comm` has the ranks of the plan's process grid, row by row. Collective.
  Distributed(Plan plan, Exchanging exchanging, MPI_Comm comm);
  ~Distributed();
  Distributed(const Distributed&) = delete;
  Distributed& operator=(const Distributed&) = delete;

  const Plan& plan() const { return plan_; }
  /// This rank's part of the field, [x][y][z]: complex numbers, or reals with r2c.
  std::span<double> field() { return {field_.get(), field_size_}; }
  /// This rank's part of the spectrum, [y][z][x], valid between forward() and backward().
  std::span<const Complex> spectrum() const { return {local_, plan_.storage}; }

  /// field to spectrum; the field stays.
  void forward();
  /// spectrum to field, not normalised: the field comes back times the number of points.
  void backward();

  Times take_times();
  /// All-to-alls that forward() and backward() together make.
  int exchanges() const;

 private:
  struct FftwFree {
    void operator()(void* memory) const { fftw_free(memory); }
  };
  struct PlanDestroy {
    void operator()(fftw_plan plan) const { fftw_destroy_plan(plan); }
  };
  using LinesPlan = std::unique_ptr<std::remove_pointer_t<fftw_plan>, PlanDestroy>;

  LinesPlan lines_plan(const Lines& lines, int sign);
  void make_first_lines();
  /// An exchange as MPI wants it told.
  struct Call {
    Exchange exchange;
    std::vector<int> sent, sent_at, received, received_at;
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};  // persistent, by the array that is sent from
  };
  static Call call_of(const Exchange& exchange);
  void run(Call& call);
  void exchange(Call& call);
  MPI_Comm comm_of(Group group) const;

  Plan plan_;
  Exchanging exchanging_;
  MPI_Comm comm_;
  MPI_Comm row_ = MPI_COMM_NULL;
  MPI_Comm column_ = MPI_COMM_NULL;
  std::size_t field_size_ = 0;  // doubles
  std::unique_ptr<double[], FftwFree> field_;
  std::unique_ptr<Complex[], FftwFree> arrays_[2];
  Complex* local_ = nullptr;
  Complex* spare_ = nullptr;
  LinesPlan first_forward_;          // field to local array, along z
  LinesPlan first_backward_;         // and back
  std::vector<LinesPlan> forward_;   // [stage]; null for exchanges
  std::vector<LinesPlan> backward_;  // [stage]
  std::vector<Call> there_, back_;   // [stage]: the exchanges, and reversed
  Times times_;
};

}  // namespace colltopo::fft3d
