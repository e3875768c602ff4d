// A rank leaves without a word in the middle of a job: the others get an error of MPI, in time, and do not hang.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <vector>

#include "mpi_test.h"

namespace {

using namespace mpi_test;

// 0: an error came and coll/topo's own endpoints had been at work.
int outcome(MPI_Comm comm) {
  const Counter on_lanes("coll_topo_messages_on_lanes");
  const int ranks = ranks_of(comm);
  std::vector<int> out(1000 * static_cast<std::size_t>(ranks), rank_in(comm)), in(out.size());
  for (int call = 0; call < 1000; ++call) {
    if (call == 3 && rank_in(comm) == ranks - 1) _exit(0);
    const int code = MPI_Alltoall(out.data(), 1000, MPI_INT, in.data(), 1000, MPI_INT, comm);
    if (code == MPI_SUCCESS) continue;
    std::printf("rank %d: error after %d calls\n", rank_in(comm), call);
    return call == 3 && on_lanes.since_made() > 0 ? 0 : 1;
  }
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const mpi_test::Job job(&argc, &argv);
  MPI_Comm comm = with_settings(MPI_COMM_WORLD, {"alltoall_algorithm", "linear"});
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const int status = outcome(comm);
  std::fflush(stdout);
  _exit(status);  // with a rank gone, MPI_Finalize has nobody to wait for
}
