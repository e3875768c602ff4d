// More than 2 GiB in one alltoall: counts that fit an int, bytes that do not. Skipped where memory is short.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

#include "mpi_test.h"

int main(int argc, char** argv) {
  using namespace mpi_test;
  constexpr std::size_t k_block = 150'000'000;  // doubles to each of 2 ranks: 2.4 GB sent by each
  const auto available =
      static_cast<std::size_t>(sysconf(_SC_AVPHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const int skip = available < (std::size_t{11} << 30) ? 77 : 0;
  Job job(&argc, &argv);
  int worst = skip;
  // The verdict on memory is shared by messages: ranks must not differ in what they do.
  if (job.rank == 0) {
    for (int from = 1; from < job.ranks; ++from) {
      int theirs = 0;
      MPI_Recv(&theirs, 1, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      worst = theirs > worst ? theirs : worst;
    }
    for (int to = 1; to < job.ranks; ++to) MPI_Send(&worst, 1, MPI_INT, to, 2, MPI_COMM_WORLD);
  } else {
    MPI_Send(&skip, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    MPI_Recv(&worst, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  if (worst != 0) {
    if (job.rank == 0) std::printf("SKIP: less than 11 GiB of memory free\n");
    MPI_T_finalize();
    MPI_Finalize();
    return worst;
  }
  MPI_Comm comm = with_settings(MPI_COMM_WORLD, {"alltoall_algorithm", "linear"});
  const Counter served("coll_topo_calls");
  const std::size_t all = k_block * static_cast<std::size_t>(job.ranks);
  // Not in place: that needs room for a copy, and calls so large are left to the next component.
  std::vector<double> input(all), output(all);
  const auto number = [](int from, int to, std::size_t i) {
    return static_cast<double>(from * 3 + to) * 1e9 + static_cast<double>(i);
  };
  for (std::size_t i = 0; i < all; ++i) input[i] = number(job.rank, static_cast<int>(i / k_block), i % k_block);
  const int block = static_cast<int>(k_block);
  MPI_Alltoall(input.data(), block, MPI_DOUBLE, output.data(), block, MPI_DOUBLE, comm);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < all; ++i)
    wrong += output[i] != number(static_cast<int>(i / k_block), job.rank, i % k_block);
  expect(wrong == 0, "every element right, not %zu wrong", wrong);
  expect(served.since_made() == 1, "one call served, not %llu", served.since_made());
  MPI_Comm_free(&comm);
  return job.verdict();
}
