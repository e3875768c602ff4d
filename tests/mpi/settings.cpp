// A job whose settings may be wrong: every collective must give right results, whoever serves it. Prints how many calls
// coll/topo served and left; bad_settings.sh looks at that and at what was said.
#include "mpi_test.h"

int main(int argc, char** argv) {
  using namespace mpi_test;
  Job job(&argc, &argv);
  const Counter served("coll_topo_calls"), left("coll_topo_fallbacks");
  const auto ranks = static_cast<std::size_t>(job.ranks);
  if (argc > 1) {  // "not-blocking": the first call of all is one that does not block
    std::vector<int> out(ranks, 1), in(ranks);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ialltoall(out.data(), 1, MPI_INT, in.data(), 1, MPI_INT, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  for (int call = 0; call < 3; ++call) {
    std::vector<int> out(ranks), in(ranks), all(ranks);
    for (std::size_t to = 0; to < ranks; ++to) out[to] = value(job.rank, static_cast<int>(to), 0);
    MPI_Alltoall(out.data(), 1, MPI_INT, in.data(), 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Allgather(&job.rank, 1, MPI_INT, all.data(), 1, MPI_INT, MPI_COMM_WORLD);
    for (std::size_t from = 0; from < ranks; ++from) {
      expect(in[from] == value(static_cast<int>(from), job.rank, 0), "rank %zu's value, not %d", from, in[from]);
      expect(all[from] == static_cast<int>(from), "rank %zu, not %d", from, all[from]);
    }
    int sum = 0, told = job.rank == 1 ? 42 : 0;
    MPI_Allreduce(&job.rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect(sum == job.ranks * (job.ranks - 1) / 2, "a sum of %d, not %d", job.ranks * (job.ranks - 1) / 2, sum);
    MPI_Bcast(&told, 1, MPI_INT, 1, MPI_COMM_WORLD);
    expect(told == 42, "42 from rank 1, not %d", told);
  }
  // A second communicator: what was said once is not said again.
  MPI_Comm duplicate = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &duplicate);
  std::vector<int> out(ranks, 1), in(ranks);
  MPI_Alltoall(out.data(), 1, MPI_INT, in.data(), 1, MPI_INT, duplicate);
  MPI_Comm_free(&duplicate);
  if (job.rank == 0) std::printf("served=%llu left=%llu\n", served.since_made(), left.since_made());
  return job.verdict();
}
