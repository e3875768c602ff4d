// Errors come back through the communicator's error handler, and the communicator serves the calls that follow.
#include "mpi_test.h"

namespace {

using namespace mpi_test;

int handled = MPI_SUCCESS;
void handler(MPI_Comm*, int* code, ...) { handled = *code; }

int class_of(int code) {
  int error_class = MPI_SUCCESS;
  MPI_Error_class(code, &error_class);
  return error_class;
}

// The root sends twice what the last rank has room for. A rank that passed the data on would leave others waiting, here
// as in Open MPI's own trees; the last one is a leaf.
void truncation(MPI_Comm comm) {
  const int rank = rank_in(comm);
  const bool is_short = rank == ranks_of(comm) - 1;
  std::vector<int> buffer(20, -1);
  handled = MPI_SUCCESS;
  const int code = MPI_Bcast(buffer.data(), is_short ? 10 : 20, MPI_INT, 0, comm);
  if (!is_short) return;
  expect(class_of(code) == MPI_ERR_TRUNCATE, "MPI_ERR_TRUNCATE from bcast, not class %d", class_of(code));
  expect(class_of(handled) == MPI_ERR_TRUNCATE, "the error handler to be called with it, not with class %d",
         class_of(handled));
  for (std::size_t i = 10; i < 20; ++i) expect(buffer[i] == -1, "nothing written behind the buffer, at %zu", i);
}

// All ranks send more than they have room for: wrong by the standard; it must not pass for success and write past the
// end.
void sends_more_than_it_receives(MPI_Comm comm) {
  const auto ranks = static_cast<std::size_t>(ranks_of(comm));
  std::vector<int> out(ranks * 4, 5), in(ranks * 2 + 8, -1);
  const int code = MPI_Alltoall(out.data(), 4, MPI_INT, in.data(), 2, MPI_INT, comm);
  expect(class_of(code) == MPI_ERR_TRUNCATE, "MPI_ERR_TRUNCATE from alltoall, not class %d", class_of(code));
  for (std::size_t i = ranks * 2; i < in.size(); ++i)
    expect(in[i] == -1, "nothing written behind the buffer, at %zu", i);
}

void next_calls_are_right(MPI_Comm comm) {
  const int rank = rank_in(comm), ranks = ranks_of(comm);
  for (int round = 0; round < 3; ++round) {
    int sum = 0, sent = rank + round;
    MPI_Allreduce(&sent, &sum, 1, MPI_INT, MPI_SUM, comm);
    expect(sum == ranks * (ranks - 1) / 2 + ranks * round, "a sum of %d, not %d",
           ranks * (ranks - 1) / 2 + ranks * round, sum);
    std::vector<int> out(static_cast<std::size_t>(ranks)), in(out.size());
    for (std::size_t to = 0; to < out.size(); ++to) out[to] = value(rank, static_cast<int>(to), 0);
    MPI_Alltoall(out.data(), 1, MPI_INT, in.data(), 1, MPI_INT, comm);
    for (std::size_t from = 0; from < in.size(); ++from) {
      expect(in[from] == value(static_cast<int>(from), rank, 0), "rank %zu's value, not %d", from, in[from]);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  mpi_test::Job job(&argc, &argv);
  MPI_Comm comm = with_settings(
      MPI_COMM_WORLD, {"alltoall_algorithm", "linear", "allreduce_algorithm", "ring", "bcast_algorithm", "binomial"});
  MPI_Errhandler errors = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(handler, &errors);
  MPI_Comm_set_errhandler(comm, errors);
  const Counter served("coll_topo_calls");
  truncation(comm);
  expect(served.since_made() == 1, "the bcast served here, not %llu calls", served.since_made());
  MPI_Barrier(MPI_COMM_WORLD);
  next_calls_are_right(comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  sends_more_than_it_receives(comm);
  MPI_Barrier(MPI_COMM_WORLD);
  next_calls_are_right(comm);
  MPI_Errhandler_free(&errors);
  MPI_Comm_free(&comm);
  return job.verdict();
}
