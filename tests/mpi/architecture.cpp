// Ranks whose bytes mean other things. Rank 1 tells coll/topo another architecture than the others have: all calls of
// the communicator go to the next component, on all ranks.
#include <dlfcn.h>

#include <cstdint>

#include "mpi_test.h"

int main(int argc, char** argv) {
  using namespace mpi_test;
  mpi_test::Job job(&argc, &argv);
  auto* const architecture = static_cast<std::uint32_t*>(dlsym(RTLD_DEFAULT, "opal_local_arch"));
  expect(architecture != nullptr, "Open MPI's opal_local_arch");
  for (const bool differs : {true, false}) {
    MPI_Comm comm = with_settings(MPI_COMM_WORLD, {"allreduce_algorithm", "ring"});
    const std::uint32_t own = architecture == nullptr ? 0 : *architecture;
    if (architecture != nullptr && differs && job.rank == 1) *architecture = own ^ 0x8;
    const Counter served("coll_topo_calls");
    int sum = 0;
    MPI_Allreduce(&job.rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    if (architecture != nullptr) *architecture = own;
    expect(sum == job.ranks * (job.ranks - 1) / 2, "the ranks' sum, not %d", sum);
    expect(served.since_made() == (differs ? 0U : 1U), "%s, not %llu calls",
           differs ? "nothing served" : "one call served", served.since_made());
    MPI_Comm_free(&comm);
  }
  return job.verdict();
}
