// Calls that rules send to schedule files which are wrong (wrong_schedules.py), each on a communicator of its own: the
// values are right and nothing waits for ever, for none of the files runs. wrong_schedules FILE, with
// a line "COLLECTIVE INTS NAME" for each.
#include <fstream>
#include <functional>
#include <map>
#include <numeric>

#include "mpi_test.h"

namespace {

using mpi_test::expect;
using Ints = std::vector<int>;

int value(int from, int to, std::size_t i) { return 1000000 * from + 10000 * to + static_cast<int>(i) + 1; }

/// Blocks of `n` values, those of rank `from` for each rank.
Ints blocks_of(int from, int ranks, std::size_t n) {
  Ints blocks;
  for (int to = 0; to < ranks; ++to)
    for (std::size_t i = 0; i < n; ++i) blocks.push_back(value(from, to, i));
  return blocks;
}
/// What every rank has for `to`, one after the other.
Ints blocks_for(int to, int ranks, std::size_t n) {
  Ints blocks;
  for (int from = 0; from < ranks; ++from)
    for (std::size_t i = 0; i < n; ++i) blocks.push_back(value(from, to, i));
  return blocks;
}
Ints sum_for(int to, int ranks, std::size_t n) {
  Ints sum(n, 0);
  for (int from = 0; from < ranks; ++from)
    for (std::size_t i = 0; i < n; ++i) sum[i] += value(from, to, i);
  return sum;
}

struct Made {
  Ints got, expected;
};
using Make = std::function<Made(int rank, int ranks, int n, MPI_Comm comm)>;

const std::map<std::string, Make> k_calls = {
    {"alltoall",
     [](int rank, int ranks, int n, MPI_Comm comm) {
       const auto size = static_cast<std::size_t>(n);
       const Ints out = blocks_of(rank, ranks, size);
       Ints in(out.size());
       MPI_Alltoall(out.data(), n, MPI_INT, in.data(), n, MPI_INT, comm);
       return Made{in, blocks_for(rank, ranks, size)};
     }},
    {"allgather",
     [](int rank, int ranks, int n, MPI_Comm comm) {
       const auto size = static_cast<std::size_t>(n);
       const Ints all = blocks_for(0, ranks, size);
       Ints in(all.size());
       MPI_Allgather(&all[static_cast<std::size_t>(rank) * size], n, MPI_INT, in.data(), n, MPI_INT, comm);
       return Made{in, all};
     }},
    {"bcast",
     [](int rank, int, int n, MPI_Comm comm) {
       const Ints sent = blocks_of(0, 1, static_cast<std::size_t>(n));
       Ints in = rank == 0 ? sent : Ints(sent.size());
       MPI_Bcast(in.data(), n, MPI_INT, 0, comm);
       return Made{in, sent};
     }},
    {"reduce",
     [](int rank, int ranks, int n, MPI_Comm comm) {
       const Ints out = blocks_of(rank, 1, static_cast<std::size_t>(n));
       Ints in(out.size());
       MPI_Reduce(out.data(), in.data(), n, MPI_INT, MPI_SUM, 0, comm);
       return Made{in, rank == 0 ? sum_for(0, ranks, out.size()) : Ints(out.size())};
     }},
    {"allreduce",
     [](int rank, int ranks, int n, MPI_Comm comm) {
       const Ints out = blocks_of(rank, 1, static_cast<std::size_t>(n));
       Ints in(out.size());
       MPI_Allreduce(out.data(), in.data(), n, MPI_INT, MPI_SUM, comm);
       return Made{in, sum_for(0, ranks, out.size())};
     }},
    {"reduce_scatter",
     [](int rank, int ranks, int n, MPI_Comm comm) {
       const auto size = static_cast<std::size_t>(n);
       const Ints out = blocks_of(rank, ranks, size);
       Ints in(size);
       MPI_Reduce_scatter_block(out.data(), in.data(), n, MPI_INT, MPI_SUM, comm);
       return Made{in, sum_for(rank, ranks, size)};
     }},
    {"gather",
     [](int rank, int ranks, int n, MPI_Comm comm) {
       const Ints all = blocks_for(0, ranks, static_cast<std::size_t>(n));
       Ints in(all.size());
       MPI_Gather(&all[static_cast<std::size_t>(rank * n)], n, MPI_INT, in.data(), n, MPI_INT, 0, comm);
       return Made{in, rank == 0 ? all : Ints(all.size())};
     }},
    {"scatter",
     [](int rank, int ranks, int n, MPI_Comm comm) {
       const Ints all = blocks_of(0, ranks, static_cast<std::size_t>(n));
       Ints in(static_cast<std::size_t>(n));
       MPI_Scatter(all.data(), n, MPI_INT, in.data(), n, MPI_INT, 0, comm);
       const auto own = all.begin() + rank * n;
       return Made{in, Ints(own, own + n)};
     }},
};

}  // namespace

int main(int argc, char** argv) {
  mpi_test::Job job(&argc, &argv);
  std::ifstream calls(argv[1]);
  int n = 0;
  for (std::string collective, name; calls >> collective >> n >> name;) {
    MPI_Comm own = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &own);
    for (int again = 0; again < 2; ++again) {
      const Made made = k_calls.at(collective)(job.rank, job.ranks, n, own);
      expect(made.got == made.expected, "right values where the file would be %s, call %d", name.c_str(), again);
    }
    MPI_Comm_free(&own);
  }
  return job.verdict();
}
