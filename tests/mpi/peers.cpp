// Finding out who shares a node makes no ompi_proc_t of ranks that are never met: Open MPI makes one at the first
// message between two. Groups are right all the same (tests/mpi/locality.cpp), which needs several nodes to show.
#include <dlfcn.h>

#include <cstdlib>

#include "mpi_test.h"

namespace {

std::size_t met() {
  using Allocated = void** (*)(std::size_t*);
  void* const symbol = dlsym(RTLD_DEFAULT, "ompi_proc_get_allocated");
  std::size_t number = 0;
  if (symbol != nullptr) std::free(reinterpret_cast<Allocated>(symbol)(&number));
  return number;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace mpi_test;
  mpi_test::Job job(&argc, &argv);
  const std::size_t before = met();
  expect(before > 0 && before < static_cast<std::size_t>(job.ranks), "some ranks not met at first, of %zu", before);
  MPI_Comm comm = with_settings(MPI_COMM_WORLD, {"allgather_algorithm", "ring"});
  const std::size_t duplicated = met();
  const Counter served("coll_topo_calls");
  std::vector<int> all(static_cast<std::size_t>(job.ranks), -1);
  MPI_Allgather(&job.rank, 1, MPI_INT, all.data(), 1, MPI_INT, comm);
  expect(served.since_made() == 1, "the allgather served here");
  for (std::size_t i = 0; i < all.size(); ++i) expect(all[i] == static_cast<int>(i), "rank %zu's number", i);
  const std::size_t after = met();
  expect(after < static_cast<std::size_t>(job.ranks), "not all %d ranks met in a ring: %zu, %zu, %zu", job.ranks,
         before, duplicated, after);
  MPI_Comm_free(&comm);
  return job.verdict();
}
