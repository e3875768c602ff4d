// Calls that do not block, and calls that begin again and again, over UCX endpoints of coll/topo's own: every element
// checked, and the counters looked at to see which way messages went.
//
//   mpi_lanes_requests ALLTOALL     the algorithm, which must be served by lanes
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <random>

#include "mpi_test.h"

namespace {

using namespace mpi_test;

std::string alltoall_algorithm;

MPI_Comm served() {
  return with_settings(MPI_COMM_WORLD,
                       {"alltoall_algorithm", alltoall_algorithm, "alltoallv_algorithm", alltoall_algorithm,
                        "allreduce_algorithm", "ring", "bcast_algorithm", "binomial"});
}

/// An all-to-all of `count` numbers for each rank.
class Alltoall {
 public:
  Alltoall(MPI_Comm comm, std::size_t count, int salt) : comm_(comm), count_(count), salt_(salt) {
    const int rank = rank_in(comm), ranks = ranks_of(comm);
    for (int peer = 0; peer < ranks; ++peer)
      for (std::size_t i = 0; i < count; ++i) out_.push_back(value(rank, salt + peer, i));
    in_.assign(out_.size(), -1);
  }
  void begin() {
    MPI_Ialltoall(out_.data(), static_cast<int>(count_), MPI_INT, in_.data(), static_cast<int>(count_), MPI_INT, comm_,
                  &request);
  }
  void block() {
    MPI_Alltoall(out_.data(), static_cast<int>(count_), MPI_INT, in_.data(), static_cast<int>(count_), MPI_INT, comm_);
  }
  void check() {
    const int rank = rank_in(comm_), ranks = ranks_of(comm_);
    for (int peer = 0; peer < ranks; ++peer)
      for (std::size_t i = 0; i < count_; ++i) {
        const int got = in_[static_cast<std::size_t>(peer) * count_ + i];
        expect(got == value(peer, salt_ + rank, i), "alltoall of %zu, salt %d: element %zu of rank %d to be %d, not %d",
               count_, salt_, i, peer, value(peer, salt_ + rank, i), got);
      }
    std::ranges::fill(in_, -1);
  }
  MPI_Request request = MPI_REQUEST_NULL;

 private:
  MPI_Comm comm_;
  std::size_t count_;
  int salt_;
  std::vector<int> out_, in_;
};

// The first call of a communicator makes its endpoints, whoever is away meanwhile.
void one_is_late() {
  MPI_Comm comm = served();
  Alltoall call(comm, 100, 1);
  call.begin();
  if (rank_in(comm) == ranks_of(comm) - 1) sleep(2);
  MPI_Wait(&call.request, MPI_STATUS_IGNORE);
  call.check();
  MPI_Comm_free(&comm);
}

// Many at once, short and long, completed in another order on every rank, with calls that block among them.
void many(MPI_Comm comm) {
  std::mt19937 random(static_cast<unsigned>(rank_in(comm)));
  for (int round = 0; round < 3; ++round) {
    std::deque<Alltoall> calls;
    for (int i = 0; i < 24; ++i) {
      calls.emplace_back(comm, i % 3 == 0 ? 6000u : static_cast<std::size_t>(i + 1), 100 * round + i);
      calls.back().begin();
      if (i % 7 != 3) continue;
      Alltoall blocking(comm, 50, 7);
      blocking.block();
      blocking.check();
    }
    std::vector<std::size_t> order(calls.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::shuffle(order, random);
    for (const std::size_t i : order) MPI_Wait(&calls[i].request, MPI_STATUS_IGNORE);
    for (Alltoall& call : calls) call.check();
  }
}

// The second call of rank 0 begins before the first is over, that of the others only after rank 0 has told them so: the
// end of the first may not wait for the second's messages.
void an_end_waits_for_its_own_messages(MPI_Comm comm) {
  const int rank = rank_in(comm), ranks = ranks_of(comm);
  Alltoall first(comm, 3000, 3), second(comm, 50000, 4);
  int word = 0;
  first.begin();
  if (rank == 0) second.begin();
  MPI_Wait(&first.request, MPI_STATUS_IGNORE);
  if (rank == 0)
    for (int peer = 1; peer < ranks; ++peer) MPI_Send(&word, 1, MPI_INT, peer, 0, MPI_COMM_WORLD);
  else
    MPI_Recv(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank != 0) second.begin();
  MPI_Wait(&second.request, MPI_STATUS_IGNORE);
  first.check();
  second.check();
}

// Lanes are shared by communicators: a call that blocks on one may not wait for the messages of an operation of the
// other, which ranks other than 0 begin only after they have heard of the end of the call.
void an_end_waits_for_no_other_communicator(MPI_Comm comm) {
  MPI_Comm other = served();
  const int rank = rank_in(comm), ranks = ranks_of(comm);
  for (MPI_Comm wired : {comm, other}) {
    Alltoall call(wired, 10, 5);
    call.block();
    call.check();
  }
  Alltoall operation(other, 50000, 6), call(comm, 100, 7);
  int word = 0;
  const double start = MPI_Wtime();
  if (rank == 0) operation.begin();
  call.block();
  if (rank == 0)
    for (int peer = 1; peer < ranks; ++peer) MPI_Send(&word, 1, MPI_INT, peer, 0, MPI_COMM_WORLD);
  else
    MPI_Recv(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const double took = MPI_Wtime() - start;
  expect(took < 8, "the call to end long before 10 s, not after %g", took);
  if (rank != 0) operation.begin();
  MPI_Wait(&operation.request, MPI_STATUS_IGNORE);
  operation.check();
  call.check();
  MPI_Comm_free(&other);
}

// Sends that need no wait: the root's operation is over as it begins, and the root waits for somebody who waits for it.
void over_at_once(MPI_Comm comm) {
  const int rank = rank_in(comm), ranks = ranks_of(comm);
  std::vector<int> data(2000, -1);
  for (int round = 0; round < 100; ++round) {
    if (rank == 0) std::ranges::fill(data, round);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibcast(data.data(), static_cast<int>(data.size()), MPI_INT, 0, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(data.back() == round, "bcast %d to bring %d, not %d", round, round, data.back());
    int word = 0;
    if (rank == 0)
      MPI_Recv(&word, 1, MPI_INT, ranks - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else if (rank == ranks - 1)
      MPI_Send(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  }
}

void reductions(MPI_Comm comm) {
  const int rank = rank_in(comm), ranks = ranks_of(comm);
  for (const std::size_t count : {std::size_t{1}, std::size_t{9000}}) {
    std::vector<int> mine(count), sum(count, -1), data(count, rank == 1 ? 5 : -1), wanted(count, 0);
    for (std::size_t i = 0; i < count; ++i) mine[i] = value(rank, 0, i);
    for (int from = 0; from < ranks; ++from)
      for (std::size_t i = 0; i < count; ++i) wanted[i] += value(from, 0, i);
    MPI_Request requests[2];
    MPI_Iallreduce(mine.data(), sum.data(), static_cast<int>(count), MPI_INT, MPI_SUM, comm, &requests[0]);
    MPI_Ibcast(data.data(), static_cast<int>(count), MPI_INT, 1, comm, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    expect(sum == wanted, "allreduce of %zu", count);
    expect(data == std::vector<int>(count, 5), "bcast of %zu", count);
  }
}

}  // namespace

int main(int argc, char** argv) {
  mpi_test::Job job(&argc, &argv);
  alltoall_algorithm = argc > 1 ? argv[1] : "linear";
  const Counter messages("coll_topo_messages"), on_lanes("coll_topo_messages_on_lanes"),
      operations("coll_topo_operations");
  one_is_late();
  MPI_Comm comm = served();
  many(comm);
  an_end_waits_for_its_own_messages(comm);
  an_end_waits_for_no_other_communicator(comm);
  over_at_once(comm);
  reductions(comm);
  expect(operations.since_made() > 0, "operations");
  expect(messages.since_made() > 0, "messages of coll/topo");
  expect(on_lanes.since_made() == messages.since_made(), "%llu messages on lanes, not %llu", messages.since_made(),
         on_lanes.since_made());
  MPI_Comm_free(&comm);
  return job.verdict();
}
