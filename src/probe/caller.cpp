#include "probe/caller.h"

#include <algorithm>
#include <iterator>

#include "probe/meet.h"

namespace colltopo::probe {

namespace {

constexpr std::size_t k_last_meetings = 64;

int ranks_of(MPI_Comm comm) {
  int ranks = 0;
  MPI_Comm_size(comm, &ranks);
  return ranks;
}

template <class Do>
double seconds_of_each(int times, const Do& what) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (int i = 0; i < times; ++i) what();
  return (MPI_Wtime() - start) / times;
}

}  // namespace

double median_of(std::vector<double> seconds) {
  std::ranges::sort(seconds);
  return seconds[seconds.size() / 2];
}

void Meetings::add(const std::vector<double>& seconds) {
  std::ranges::copy(seconds, std::back_inserter(seconds_));
  if (seconds_.size() > k_last_meetings) seconds_.erase(seconds_.begin(), seconds_.end() - k_last_meetings);
}

Caller::Caller(MPI_Comm comm, const Counters* counters, Meetings& meetings, Collective collective, std::size_t bytes)
    : comm_(comm), counters_(counters), meetings_(meetings), collective_(collective), count_(static_cast<int>(bytes)) {
  const std::size_t shards = row(collective).counts_shards() ? static_cast<std::size_t>(ranks_of(comm)) : 1;
  const std::size_t all = bytes * shards;
  counts_.assign(shards, static_cast<int>(bytes / sizeof(int)));
  in_.assign(all / sizeof(int), 1);
  out_.assign(all / sizeof(int), 0);
}

void Caller::call() {
  const int words = count_ / static_cast<int>(sizeof(int));
  switch (collective_) {
    case Collective::alltoall:
      MPI_Alltoall(in_.data(), count_, MPI_BYTE, out_.data(), count_, MPI_BYTE, comm_);
      break;
    case Collective::allgather:
      MPI_Allgather(in_.data(), count_, MPI_BYTE, out_.data(), count_, MPI_BYTE, comm_);
      break;
    case Collective::reduce_scatter:
      MPI_Reduce_scatter(in_.data(), out_.data(), counts_.data(), MPI_INT, MPI_SUM, comm_);
      break;
    case Collective::allreduce:
      MPI_Allreduce(in_.data(), out_.data(), words, MPI_INT, MPI_SUM, comm_);
      break;
    case Collective::bcast:
      MPI_Bcast(in_.data(), count_, MPI_BYTE, 0, comm_);
      break;
    case Collective::reduce:
      MPI_Reduce(in_.data(), out_.data(), words, MPI_INT, MPI_SUM, 0, comm_);
      break;
    case Collective::gather:
      MPI_Gather(in_.data(), count_, MPI_BYTE, out_.data(), count_, MPI_BYTE, 0, comm_);
      break;
    case Collective::scatter:
      MPI_Scatter(in_.data(), count_, MPI_BYTE, out_.data(), count_, MPI_BYTE, 0, comm_);
      break;
    default:
      break;
  }
}

std::vector<double> Caller::seconds(int blocks, int calls) {
  const unsigned long long before = served_calls();
  const bool meets = rooted(collective_);
  std::vector<double> own;
  for (int block = 0; block < blocks; ++block) {
    own.push_back(seconds_of_each(calls, [&] {
      call();
      if (meets) meet(MPI_COMM_WORLD);
    }));
    if (meets) own.push_back(seconds_of_each(calls, [] { meet(MPI_COMM_WORLD); }));
  }
  const unsigned long long by_us = served_calls() - before;
  was_served_ = was_served_ || by_us > 0;
  was_declined_ =
      was_declined_ || by_us < static_cast<unsigned long long>(blocks) * static_cast<unsigned long long>(calls);
  std::vector<double> slowest(own.size());
  MPI_Allreduce(own.data(), slowest.data(), static_cast<int>(own.size()), MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return meets ? less_meetings(slowest) : slowest;
}

bool Caller::was_always(bool served) const {
  int other = served ? was_declined_ : was_served_;
  MPI_Bcast(&other, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return other == 0;
}

// [block] of pairs of a call with a meeting after it, and of a meeting alone.
std::vector<double> Caller::less_meetings(const std::vector<double>& pairs) {
  std::vector<double> alone;
  for (std::size_t i = 1; i < pairs.size(); i += 2) alone.push_back(pairs[i]);
  meetings_.add(alone);
  const double meeting = meetings_.median();
  std::vector<double> calls;
  for (std::size_t i = 0; i < pairs.size(); i += 2) calls.push_back(std::max(0.0, pairs[i] - meeting));
  return calls;
}

}  // namespace colltopo::probe
