// What does a program pay that duplicates a communicator, calls one allreduce on it and frees it? With coll/topo, or in
// a job without it (--mca coll ^topo): whoever asks runs both in turn.
//
//   mpirun -np 4 colltopo-bench-first-calls        median microseconds of the slowest rank
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <vector>

int main(int argc, char** argv) {
  constexpr int k_blocks = 11, k_calls = 50;
  MPI_Init(&argc, &argv);
  std::vector<double> us(k_blocks);
  for (double& block : us) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int i = 0; i < k_calls; ++i) {
      MPI_Comm duplicate = MPI_COMM_NULL;
      MPI_Comm_dup(MPI_COMM_WORLD, &duplicate);
      double one = 1, sum = 0;
      MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, duplicate);
      MPI_Comm_free(&duplicate);
    }
    block = (MPI_Wtime() - begin) / k_calls * 1e6;
  }
  MPI_Allreduce(MPI_IN_PLACE, us.data(), k_blocks, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::nth_element(us.begin(), us.begin() + k_blocks / 2, us.end());
  if (rank == 0) std::printf("%.3f\n", us[k_blocks / 2]);
  MPI_Finalize();
  return 0;
}
