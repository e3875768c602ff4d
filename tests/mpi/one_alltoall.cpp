// One MPI_Alltoall of so many bytes per pair, and nothing else that would send: for scripts that count messages.
#include <mpi.h>

#include <cstdlib>
#include <vector>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int ranks = 0, rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int bytes = argc > 1 ? std::atoi(argv[1]) : 1;
  const auto all = static_cast<std::size_t>(bytes) * static_cast<std::size_t>(ranks);
  std::vector<char> input(all, static_cast<char>(rank)), output(all, -1);
  MPI_Alltoall(input.data(), bytes, MPI_BYTE, output.data(), bytes, MPI_BYTE, MPI_COMM_WORLD);
  int wrong = 0;
  for (std::size_t i = 0; i < all; ++i)
    if (output[i] != static_cast<char>(i / static_cast<std::size_t>(bytes))) wrong = 1;
  MPI_Finalize();
  return wrong;
}
