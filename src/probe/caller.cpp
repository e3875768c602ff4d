#include "probe/caller.h"

#include <algorithm>
#include <iterator>

#include "probe/meet.h"

namespace colltopo::probe {

namespace {

constexpr std::size_t k_last_meetings = 64;
constexpr int k_first_meetings = 3, k_in_first_row = 5;

int ranks_of(MPI_Comm comm) {
  int ranks = 0;
  MPI_Comm_size(comm, &ranks);
  return ranks;
}

}  // namespace

std::vector<double> Rows::slowest() {
  std::vector<double> slowest(own_.size());
  MPI_Allreduce(own_.data(), slowest.data(), static_cast<int>(own_.size()), MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  own_.clear();
  return slowest;
}

Meetings::Meetings(RunOrder& order) : rows_(order) {
  for (int i = 0; i < k_first_meetings; ++i) time(1);
  const double alone = median_of(rows_.slowest());
  for (int i = 0; i < k_first_meetings; ++i) time(k_in_first_row);
  slowest();
  of_a_row_ = std::max(0.0, (alone - median()) * k_in_first_row / (k_in_first_row - 1));
}

void Meetings::time(int calls) {
  rows_.time(calls, [] { meet(MPI_COMM_WORLD); });
}

std::vector<double> Meetings::slowest() {
  std::vector<double> rows = rows_.slowest();
  std::ranges::copy(rows, std::back_inserter(last_));
  if (last_.size() > k_last_meetings) last_.erase(last_.begin(), last_.end() - k_last_meetings);
  return rows;
}

Caller::Caller(MPI_Comm comm, const Counters* counters, Buffers& buffers, RunOrder& order, Collective collective,
               std::size_t bytes)
    : comm_(comm),
      counters_(counters),
      collective_(collective),
      buffers_(buffers),
      count_(static_cast<int>(bytes)),
      rows_(order) {
  const std::size_t shards = row(collective).counts_shards() ? static_cast<std::size_t>(ranks_of(comm)) : 1;
  const std::size_t all = bytes * shards;
  buffers_.counts.assign(shards, static_cast<int>(bytes / sizeof(int)));
  buffers_.in.assign(all / sizeof(int), 1);
  buffers_.out.assign(all / sizeof(int), 0);
}

void Caller::call() {
  auto& [counts, in, out] = buffers_;
  const int words = count_ / static_cast<int>(sizeof(int));
  switch (collective_) {
    case Collective::alltoall:
      MPI_Alltoall(in.data(), count_, MPI_BYTE, out.data(), count_, MPI_BYTE, comm_);
      break;
    case Collective::allgather:
      MPI_Allgather(in.data(), count_, MPI_BYTE, out.data(), count_, MPI_BYTE, comm_);
      break;
    case Collective::reduce_scatter:
      MPI_Reduce_scatter(in.data(), out.data(), counts.data(), MPI_INT, MPI_SUM, comm_);
      break;
    case Collective::allreduce:
      MPI_Allreduce(in.data(), out.data(), words, MPI_INT, MPI_SUM, comm_);
      break;
    case Collective::bcast:
      MPI_Bcast(in.data(), count_, MPI_BYTE, 0, comm_);
      break;
    case Collective::reduce:
      MPI_Reduce(in.data(), out.data(), words, MPI_INT, MPI_SUM, 0, comm_);
      break;
    case Collective::gather:
      MPI_Gather(in.data(), count_, MPI_BYTE, out.data(), count_, MPI_BYTE, 0, comm_);
      break;
    case Collective::scatter:
      MPI_Scatter(in.data(), count_, MPI_BYTE, out.data(), count_, MPI_BYTE, 0, comm_);
      break;
    default:
      break;
  }
}

void Caller::time(int calls) {
  const unsigned long long before = served_calls();
  const bool meets = rooted(collective_);
  rows_.time(calls, [&] {
    call();
    if (meets) meet(MPI_COMM_WORLD);
  });
  const unsigned long long by_us = served_calls() - before;
  was_served_ = was_served_ || by_us > 0;
  was_declined_ = was_declined_ || by_us < static_cast<unsigned long long>(calls);
}

bool Caller::was_always(bool served) const {
  int other = served ? was_declined_ : was_served_;
  MPI_Bcast(&other, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return other == 0;
}

}  // namespace colltopo::probe
