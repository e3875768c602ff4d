// loop SECONDS BYTES: MPI_Alltoall of so many bytes per pair again and again, every one of them checked, and a line for
// each: when it ended, in seconds since the first began, and the microseconds that it took. For scripts that change a
// network meanwhile.
#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr std::int64_t k_last = std::int64_t{1} << 60;

std::int64_t value(int from, int to, std::size_t i, int round) {
  return 1'000'000'007LL * from + 10'007LL * to + static_cast<std::int64_t>(i) + 31LL * round;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int ranks = 0, rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const double seconds = argc > 1 ? std::atof(argv[1]) : 1;
  const std::size_t count = (argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1024) / sizeof(std::int64_t);
  std::vector<std::int64_t> input(count * static_cast<std::size_t>(ranks)), output(input.size());
  const double begin = MPI_Wtime();
  int wrong = 0;
  bool last = false;
  for (int round = 0; !last && wrong == 0; ++round) {
    // Rank 0 says in its first elements whether this is the last call: the others have no clock in common with it.
    const std::int64_t mark = rank == 0 && MPI_Wtime() - begin > seconds ? k_last : 0;
    for (int to = 0; to < ranks; ++to)
      for (std::size_t i = 0; i < count; ++i)
        input[static_cast<std::size_t>(to) * count + i] = value(rank, to, i, round) + (i == 0 ? mark : 0);
    const double before = MPI_Wtime();
    MPI_Alltoall(input.data(), static_cast<int>(count), MPI_INT64_T, output.data(), static_cast<int>(count),
                 MPI_INT64_T, MPI_COMM_WORLD);
    const double after = MPI_Wtime();
    last = output[0] >= k_last;
    if (last) output[0] -= k_last;
    for (int from = 0; from < ranks; ++from)
      for (std::size_t i = 0; i < count; ++i)
        if (output[static_cast<std::size_t>(from) * count + i] != value(from, rank, i, round)) wrong = 1;
    if (wrong != 0) std::fprintf(stderr, "rank %d has a wrong value in round %d\n", rank, round);
    if (rank == 0) {
      std::printf("%.6f %.1f\n", after - begin, (after - before) * 1e6);
      std::fflush(stdout);
    }
  }
  if (wrong != 0) MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Finalize();
  return 0;
}
