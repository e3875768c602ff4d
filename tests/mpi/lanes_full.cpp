// A communicator by lanes that has more plans than are remembered, while one rank is in a blocking call and the others
// have not come to it: what the turn of a new call does on the way must not take the blocking call's plan away. Rules
// give every size from 4 to 2,048 bytes a bcast of its own (chain:pieces=N of N ints).
#include <unistd.h>

#include <deque>

#include "mpi_test.h"

namespace {

using namespace mpi_test;

void expect_all(const std::vector<int>& found, std::size_t number, int wanted, const char* what) {
  for (std::size_t i = 0; i < number; ++i) expect(found[i] == wanted, "%s to be %d, not %d", what, wanted, found[i]);
}

// Two roots of each size.
void fill(MPI_Comm comm, int most_ints) {
  std::vector<int> ints(static_cast<std::size_t>(most_ints));
  for (int size = 1; size <= most_ints; ++size) {
    for (int root = 0; root < 2; ++root) {
      MPI_Request request = MPI_REQUEST_NULL;
      std::fill(ints.begin(), ints.end(), rank_in(comm) == root ? size : -1);
      MPI_Ibcast(ints.data(), size, MPI_INT, root, comm, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      expect_all(ints, static_cast<std::size_t>(size), size, "an element of a bcast");
    }
  }
}

/// A call whose plan is new: one of nine.
class New {
 public:
  New(MPI_Comm comm, int which) : which_(which), rank_(rank_in(comm)), ranks_(ranks_of(comm)) {
    own_.assign(static_cast<std::size_t>(k_ints * ranks_), rank_ + 1);
    got_.assign(own_.size(), -1);
    int *const in = own_.data(), *const out = got_.data();
    const int n = k_ints, root = which / 3 % 2;
    if (which < 6 && which % 3 == 0) MPI_Igather(in, n, MPI_INT, out, n, MPI_INT, root, comm, &request);
    if (which < 6 && which % 3 == 1) MPI_Iscatter(in, n, MPI_INT, out, n, MPI_INT, root, comm, &request);
    if (which < 6 && which % 3 == 2) MPI_Ireduce(in, out, n, MPI_INT, MPI_SUM, root, comm, &request);
    if (which == 6) MPI_Iallgather(in, n, MPI_INT, out, n, MPI_INT, comm, &request);
    if (which == 7) MPI_Ialltoall(in, n, MPI_INT, out, n, MPI_INT, comm, &request);
    if (which == 8) MPI_Ireduce_scatter_block(in, out, n, MPI_INT, MPI_SUM, comm, &request);
  }
  New(const New&) = delete;
  New& operator=(const New&) = delete;
  void check() const {
    const int root = which_ / 3 % 2, all = ranks_ * (ranks_ + 1) / 2;
    const auto block = [&](int from) { return got_[static_cast<std::size_t>(from * k_ints + k_ints - 1)]; };
    const bool gathers = which_ == 6 || which_ == 7 || (which_ < 6 && which_ % 3 == 0 && rank_ == root);
    for (int from = 0; gathers && from < ranks_; ++from) expect(block(from) == from + 1, "the block of rank %d", from);
    if (which_ < 6 && which_ % 3 == 1) expect(block(0) == root + 1, "a block of the root, not %d", block(0));
    if (which_ == 8 || (which_ < 6 && which_ % 3 == 2 && rank_ == root))
      expect(block(0) == all, "the sum %d, not %d", all, block(0));
  }
  MPI_Request request = MPI_REQUEST_NULL;

 private:
  static constexpr int k_ints = 100;
  int which_, rank_, ranks_;
  std::vector<int> own_, got_;
};

}  // namespace

int main(int argc, char** argv) {
  Job job(&argc, &argv);
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  constexpr int k_ints = 1 << 16;
  std::vector<int> in(k_ints, 1), sums(k_ints);
  const auto blocking_call = [&] {
    std::fill(sums.begin(), sums.end(), -1);
    MPI_Allreduce(in.data(), sums.data(), k_ints, MPI_INT, MPI_SUM, comm);
    expect_all(sums, k_ints, job.ranks, "a sum");
  };
  for (int i = 0; i < 2; ++i) blocking_call();
  fill(comm, 509);  // with the sums 1,019 plans of the 1,024 that are remembered
  // The turn of the sixth finds no place for its plan, after those before it have waited for the other ranks.
  if (job.rank > 0) usleep(100000);
  std::deque<New> calls;
  for (int which = 0; which < 9; ++which) calls.emplace_back(comm, which);
  const double begin = MPI_Wtime();
  int done = 0;
  while (job.rank > 0 && MPI_Wtime() < begin + 0.5) MPI_Test(&calls.back().request, &done, MPI_STATUS_IGNORE);
  blocking_call();
  for (New& call : calls) {
    MPI_Wait(&call.request, MPI_STATUS_IGNORE);
    call.check();
  }
  // A blocking call that is new forgets, and all are known anew.
  MPI_Bcast(in.data(), k_ints, MPI_INT, 0, comm);
  blocking_call();
  fill(comm, 8);
  MPI_Comm_free(&comm);
  return job.verdict();
}
