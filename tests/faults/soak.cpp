// Long runs: mixed collectives with every result checked, and communicators that come and go. The last tenth must be
// about as fast as the first, and memory must not grow.
//
//   soak calls NUMBER | soak communicators NUMBER
//
// Prints one JSON object; exit status 1: a value is wrong, a tenth is slow, or memory grew.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr double k_slower = 2.0;       // the last tenth over the first; other work on a shared machine is in it
constexpr long k_growth_kib = 2048;    // of resident memory after the first tenth
constexpr int k_most_elements = 2000;  // of a block

int rank = 0, ranks = 0;
long wrong = 0;

long resident_kib() {
  char line[200];
  long kib = 0;
  std::FILE* file = std::fopen("/proc/self/status", "r");
  while (file != nullptr && std::fgets(line, sizeof line, file) != nullptr) std::sscanf(line, "VmRSS: %ld", &kib);
  if (file != nullptr) std::fclose(file);
  return kib;
}

int value(long call, int from, int to, int i) { return static_cast<int>(call % 1000) + 7 * from + 31 * to + i % 11; }

void expect(const std::vector<int>& found, int i, int expected) {
  if (found[static_cast<std::size_t>(i)] != expected) ++wrong;
}

/// One of ten calls, by its number; sizes change with it.
void one_call(long call, MPI_Comm comm, std::vector<int>& out, std::vector<int>& in) {
  static const int k_sizes[] = {1, 2, 16, 100, 1, 8, 500, 1, 4, k_most_elements};
  const int size = call % 97 == 0 ? k_sizes[call / 97 % 10] : k_sizes[call % 8], root = static_cast<int>(call % ranks);
  MPI_Request request = MPI_REQUEST_NULL;
  for (int to = 0; to < ranks; ++to)
    for (int i = 0; i < size; ++i) out[static_cast<std::size_t>(to * size + i)] = value(call, rank, to, i);
  const int what = static_cast<int>(call % 10);
  switch (what) {
    case 0:
      MPI_Alltoall(out.data(), size, MPI_INT, in.data(), size, MPI_INT, comm);
      break;
    case 1:
      MPI_Allreduce(out.data(), in.data(), size, MPI_INT, MPI_SUM, comm);
      break;
    case 2:
      MPI_Allgather(out.data(), size, MPI_INT, in.data(), size, MPI_INT, comm);
      break;
    case 3:
      MPI_Ialltoall(out.data(), size, MPI_INT, in.data(), size, MPI_INT, comm, &request);
      break;
    case 4:
      MPI_Iallreduce(out.data(), in.data(), size, MPI_INT, MPI_SUM, comm, &request);
      break;
    case 5:
      MPI_Bcast(rank == root ? out.data() : in.data(), size, MPI_INT, root, comm);
      break;
    case 6:
      MPI_Reduce(out.data(), in.data(), size, MPI_INT, MPI_SUM, root, comm);
      break;
    case 7:
      MPI_Gather(out.data(), size, MPI_INT, in.data(), size, MPI_INT, root, comm);
      break;
    case 8:
      MPI_Scatter(out.data(), size, MPI_INT, in.data(), size, MPI_INT, root, comm);
      break;
    default:
      MPI_Reduce_scatter_block(out.data(), in.data(), size, MPI_INT, MPI_SUM, comm);
  }
  if (request != MPI_REQUEST_NULL) MPI_Wait(&request, MPI_STATUS_IGNORE);
  const int all = what == 0 || what == 2 || what == 3 ? ranks : what == 7 && rank == root ? ranks : 1;
  const bool mine = (what == 6 || what == 7) ? rank == root : what != 5 || rank != root;
  for (int from = 0; from < all && mine; ++from) {
    for (int i = 0; i < size; ++i) {
      int sum = 0;
      const int to = what == 9 ? rank : 0;
      for (int r = 0; r < ranks; ++r) sum += value(call, r, to, i);
      const bool moves = what == 0 || what == 3 || what == 8;
      const int expected = what == 1 || what == 4 || what == 6 || what == 9
                               ? sum
                               : value(call, what == 5 || what == 8 ? root : from, moves ? rank : 0, i);
      expect(in, from * size + i, expected);
    }
  }
}

void one_communicator(long number, std::vector<int>& out, std::vector<int>& in) {
  MPI_Comm comm = MPI_COMM_NULL;
  number % 2 == 0 ? MPI_Comm_dup(MPI_COMM_WORLD, &comm) : MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &comm);
  one_call(number, comm, out, in);
  one_call(number + 1, comm, out, in);
  MPI_Comm_free(&comm);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const bool calls = argc == 3 && std::strcmp(argv[1], "calls") == 0;
  const long number = argc == 3 ? std::atol(argv[2]) : 0;
  if (number < 10 || (!calls && std::strcmp(argv[1], "communicators") != 0)) {
    std::fprintf(stderr, "usage: soak calls|communicators NUMBER\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  std::vector<int> out(static_cast<std::size_t>(ranks) * k_most_elements), in(out);
  double seconds[10] = {};
  long after_first = 0;
  for (int tenth = 0; tenth < 10; ++tenth) {
    const double begin = MPI_Wtime();
    for (long i = tenth * (number / 10); i < (tenth + 1) * (number / 10); ++i) {
      calls ? one_call(i, MPI_COMM_WORLD, out, in) : one_communicator(i, out, in);
    }
    seconds[tenth] = MPI_Wtime() - begin;
    if (tenth == 0) after_first = resident_kib();
  }
  const long grown = resident_kib() - after_first;
  // The second tenth is one where all that is made once has been made.
  const double ratio = seconds[9] / std::max(std::min(seconds[0], seconds[1]), 1e-9);
  const bool good = wrong == 0 && ratio < k_slower && grown < k_growth_kib;
  if (!good || rank == 0) {
    std::printf(
        "{\"rank\": %d, \"ranks\": %d, \"what\": \"%s\", \"number\": %ld, \"wrong\": %ld, \"seconds\": %.1f, "
        "\"last_over_first\": %.2f, "
        "\"grown_kib\": %ld}\n",
        rank, ranks, argv[1], number, wrong, seconds[0] * 10, ratio, grown);
  }
  std::fflush(stdout);
  MPI_Finalize();
  return good ? 0 : 1;
}
