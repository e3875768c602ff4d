#include "distributed.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "box_copy.h"
#include "persistent.h"

namespace colltopo::fft3d {

namespace {

fftw_complex* fftw(Complex* numbers) { return reinterpret_cast<fftw_complex*>(numbers); }

fftw_iodim64 dimension(std::size_t count, std::size_t from, std::size_t to) {
  return {static_cast<std::ptrdiff_t>(count), static_cast<std::ptrdiff_t>(from), static_cast<std::ptrdiff_t>(to)};
}

// Adds the time of its life to a sum.
class Clock {
 public:
  explicit Clock(double& sum) : sum_(sum), begin_(MPI_Wtime()) {}
  ~Clock() { sum_ += MPI_Wtime() - begin_; }
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;

 private:
  double& sum_;
  double begin_;
};

}  // namespace

Distributed::Distributed(Plan plan, Exchanging exchanging, MPI_Comm comm)
    : plan_(std::move(plan)), exchanging_(exchanging), comm_(comm) {
  const std::size_t points = plan_.extents[0] * plan_.extents[1] * plan_.extents[2];
  field_size_ = plan_.transform == Transform::r2c ? points : 2 * points;
  field_.reset(fftw_alloc_real(field_size_));
  for (auto& array : arrays_) {
    array.reset(reinterpret_cast<Complex*>(fftw_alloc_complex(plan_.storage)));
    if (!field_ || !array) throw std::bad_alloc();
    // Padding is transformed along with the rest, so it must hold numbers.
    std::fill_n(array.get(), plan_.storage, Complex{});
  }
  local_ = arrays_[0].get();
  spare_ = arrays_[1].get();

  if (plan_.processes.columns > 1) {
    int rank = 0;
    MPI_Comm_rank(comm_, &rank);
    const int row = rank / plan_.processes.columns;
    const int column = rank % plan_.processes.columns;
    MPI_Comm_split(comm_, row, column, &row_);
    MPI_Comm_split(comm_, column, row, &column_);
  }

  make_first_lines();
  for (const Stage& stage : plan_.stages) {
    const bool is_lines = stage.action == Stage::Action::lines;
    forward_.push_back(is_lines ? lines_plan(stage.lines, FFTW_FORWARD) : nullptr);
    backward_.push_back(is_lines ? lines_plan(stage.lines, FFTW_BACKWARD) : nullptr);
    there_.push_back(is_lines ? Call{} : call_of(stage.exchange));
    back_.push_back(is_lines ? Call{} : call_of(reversed(stage.exchange)));
  }
}

Distributed::~Distributed() {
  for (std::vector<Call>* const calls : {&there_, &back_})
    for (Call& call : *calls)
      for (MPI_Request& request : call.requests)
        if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  if (row_ != MPI_COMM_NULL) MPI_Comm_free(&row_);
  if (column_ != MPI_COMM_NULL) MPI_Comm_free(&column_);
}

void Distributed::make_first_lines() {
  const std::size_t lines = plan_.extents[0] * plan_.extents[1];
  const fftw_iodim64 line = dimension(plan_.grid.nz, 1, 1);
  const fftw_iodim64 there = dimension(lines, plan_.grid.nz, plan_.line_length);
  const fftw_iodim64 back = dimension(lines, plan_.line_length, plan_.grid.nz);
  if (plan_.transform == Transform::r2c) {
    first_forward_.reset(fftw_plan_guru64_dft_r2c(1, &line, 1, &there, field_.get(), fftw(local_), FFTW_ESTIMATE));
    first_backward_.reset(fftw_plan_guru64_dft_c2r(1, &line, 1, &back, fftw(local_), field_.get(), FFTW_ESTIMATE));
  } else {
    fftw_complex* field = reinterpret_cast<fftw_complex*>(field_.get());
    first_forward_.reset(fftw_plan_guru64_dft(1, &line, 1, &there, field, fftw(local_), FFTW_FORWARD, FFTW_ESTIMATE));
    first_backward_.reset(fftw_plan_guru64_dft(1, &line, 1, &back, fftw(local_), field, FFTW_BACKWARD, FFTW_ESTIMATE));
  }
  if (!first_forward_ || !first_backward_) throw std::runtime_error("FFTW has no plan for the lines along z");
}

Distributed::LinesPlan Distributed::lines_plan(const Lines& lines, int sign) {
  const fftw_iodim64 line = dimension(lines.length, lines.stride, lines.stride);
  const fftw_iodim64 loops[2] = {dimension(lines.loop_count[0], lines.loop_stride[0], lines.loop_stride[0]),
                                 dimension(lines.loop_count[1], lines.loop_stride[1], lines.loop_stride[1])};
  LinesPlan plan(fftw_plan_guru64_dft(1, &line, 2, loops, fftw(local_), fftw(local_), sign, FFTW_ESTIMATE));
  if (!plan) throw std::runtime_error("FFTW has no plan for lines of this length");
  return plan;
}

MPI_Comm Distributed::comm_of(Group group) const {
  // A pencil grid of one column is a slab: its rows are single ranks.
  if (group == Group::all || row_ == MPI_COMM_NULL) return group == Group::row ? MPI_COMM_SELF : comm_;
  return group == Group::row ? row_ : column_;
}

Distributed::Call Distributed::call_of(const Exchange& exchange) {
  Call call;
  call.exchange = exchange;
  for (const Part& part : exchange.sent) {
    call.sent.push_back(static_cast<int>(part.size));
    call.sent_at.push_back(static_cast<int>(part.block));
  }
  for (const Part& part : exchange.received) {
    call.received.push_back(static_cast<int>(part.size));
    call.received_at.push_back(static_cast<int>(part.block));
  }
  return call;
}

// From the spare array to the local one.
void Distributed::exchange(Call& call) {
  const MPI_Datatype number = MPI_C_DOUBLE_COMPLEX;
  const MPI_Comm comm = comm_of(call.exchange.group);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Request& persistent = call.requests[spare_ == arrays_[0].get() ? 0 : 1];
  switch (exchanging_) {
    case Exchanging::alltoall:
      MPI_Alltoall(spare_, call.sent[0], number, local_, call.received[0], number, comm);
      break;
    case Exchanging::alltoallv:
      MPI_Alltoallv(spare_, call.sent.data(), call.sent_at.data(), number, local_, call.received.data(),
                    call.received_at.data(), number, comm);
      break;
    case Exchanging::ialltoallv:
      MPI_Ialltoallv(spare_, call.sent.data(), call.sent_at.data(), number, local_, call.received.data(),
                     call.received_at.data(), number, comm, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      break;
    case Exchanging::persistent:
      if (persistent == MPI_REQUEST_NULL) COLLTOPO_INIT(Alltoallv)
      (spare_, call.sent.data(), call.sent_at.data(), number, local_, call.received.data(), call.received_at.data(),
       number, comm, MPI_INFO_NULL, &persistent);
      MPI_Start(&persistent);
      MPI_Wait(&persistent, MPI_STATUS_IGNORE);
  }
}

void Distributed::run(Call& call) {
  const Exchange& exchange = call.exchange;
  {
    const Clock clock(times_.pack);
    for (const Part& part : exchange.sent) copy_box(part.copy, local_ + part.local, spare_ + part.block);
  }
  {
    const Clock clock(times_.exchange);
    this->exchange(call);
  }
  {
    const Clock clock(times_.pack);
    for (const Part& part : exchange.received) copy_box(part.copy, local_ + part.block, spare_ + part.local);
  }
  std::swap(local_, spare_);
}

void Distributed::forward() {
  {
    const Clock clock(times_.compute);
    if (plan_.transform == Transform::r2c)
      fftw_execute_dft_r2c(first_forward_.get(), field_.get(), fftw(local_));
    else
      fftw_execute_dft(first_forward_.get(), reinterpret_cast<fftw_complex*>(field_.get()), fftw(local_));
  }
  for (std::size_t i = 0; i < plan_.stages.size(); ++i) {
    if (!forward_[i]) {
      run(there_[i]);
      continue;
    }
    const Clock clock(times_.compute);
    fftw_execute_dft(forward_[i].get(), fftw(local_), fftw(local_));
  }
}

void Distributed::backward() {
  for (std::size_t i = plan_.stages.size(); i-- > 0;) {
    if (!backward_[i]) {
      run(back_[i]);
      continue;
    }
    const Clock clock(times_.compute);
    fftw_execute_dft(backward_[i].get(), fftw(local_), fftw(local_));
  }
  const Clock clock(times_.compute);
  if (plan_.transform == Transform::r2c)
    fftw_execute_dft_c2r(first_backward_.get(), fftw(local_), field_.get());
  else
    fftw_execute_dft(first_backward_.get(), fftw(local_), reinterpret_cast<fftw_complex*>(field_.get()));
}

Times Distributed::take_times() { return std::exchange(times_, {}); }

int Distributed::exchanges() const {
  return 2 * static_cast<int>(std::count_if(plan_.stages.begin(), plan_.stages.end(), [](const Stage& stage) {
           return stage.action == Stage::Action::exchange;
         }));
}

}  // namespace colltopo::fft3d
