// A process that runs out of memory while a plan is made gets an error code of MPI's, not one of colltopo's that reads
// like another, and the line that says why.
#include <sys/resource.h>

#include "mpi_test.h"

int main(int argc, char** argv) {
  using namespace mpi_test;
  mpi_test::Job job(&argc, &argv);
  MPI_Comm comm = with_settings(MPI_COMM_WORLD, {"allreduce_algorithm", "recursive-doubling"});
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  constexpr int k_ints = 1 << 26;
  std::vector<int> in(k_ints), out(k_ints);
  int small = 0;
  const Counter served("coll_topo_calls");
  MPI_Allreduce(&job.rank, &small, 1, MPI_INT, MPI_SUM, comm);
  if (served.exists()) expect(served.since_made() == 1, "a small allreduce served here");
  // Scratch of a vector's size is too much from here on, on every rank.
  rlimit limit{};
  getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = std::size_t{1} << 29;
  setrlimit(RLIMIT_AS, &limit);
  const int code = MPI_Allreduce(in.data(), out.data(), k_ints, MPI_INT, MPI_SUM, comm);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_AS, &limit);
  int error_class = MPI_SUCCESS;
  MPI_Error_class(code, &error_class);
  expect(error_class == MPI_ERR_INTERN, "MPI_ERR_INTERN, not class %d", error_class);
  MPI_Allreduce(&job.rank, &small, 1, MPI_INT, MPI_SUM, comm);
  expect(small == job.ranks * (job.ranks - 1) / 2, "a sum after the error, not %d", small);
  MPI_Comm_free(&comm);
  return job.verdict();
}
