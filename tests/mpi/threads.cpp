// MPI_THREAD_MULTIPLE: threads that use a communicator each, also making and freeing duplicates, so that first calls,
// plan caches and counters of different communicators meet.
#include <mutex>
#include <thread>

#include "mpi_test.h"

namespace {

using namespace mpi_test;

std::mutex expecting;

void work(MPI_Comm comm, int thread) {
  const int rank = rank_in(comm), ranks = ranks_of(comm);
  for (int round = 0; round < 60; ++round) {
    MPI_Comm duplicate = MPI_COMM_NULL;
    MPI_Comm_dup(comm, &duplicate);
    const MPI_Comm used = round % 2 == 0 ? duplicate : comm;
    const auto block = static_cast<std::size_t>(1 + (round * 7 + thread) % 40);
    std::vector<int> out(static_cast<std::size_t>(ranks) * block), in(out.size());
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = value(rank, static_cast<int>(i / block), i % block) + thread;
    MPI_Alltoall(out.data(), static_cast<int>(block), MPI_INT, in.data(), static_cast<int>(block), MPI_INT, used);
    std::vector<long> mine(block, rank + thread), sum(block);
    MPI_Allreduce(mine.data(), sum.data(), static_cast<int>(block), MPI_LONG, MPI_SUM, used);
    {
      const std::lock_guard lock(expecting);
      for (std::size_t i = 0; i < in.size(); ++i) {
        const int wanted = value(static_cast<int>(i / block), rank, i % block) + thread;
        expect(in[i] == wanted, "thread %d, round %d: element %zu to be %d, not %d", thread, round, i, wanted, in[i]);
      }
      for (const long got : sum) {
        const long wanted = static_cast<long>(ranks) * (ranks - 1) / 2 + static_cast<long>(ranks) * thread;
        expect(got == wanted, "thread %d, round %d: a sum of %ld, not %ld", thread, round, wanted, got);
      }
    }
    MPI_Comm_free(&duplicate);
  }
}

}  // namespace

int main(int argc, char** argv) {
  mpi_test::Job job(&argc, &argv, MPI_THREAD_MULTIPLE);
  expect(job.provided == MPI_THREAD_MULTIPLE, "MPI_THREAD_MULTIPLE");
  constexpr int k_threads = 4;
  const Counter served("coll_topo_calls");
  std::vector<MPI_Comm> comms;
  std::vector<std::thread> threads;
  for (int i = 0; i < k_threads; ++i) {
    comms.push_back(with_settings(MPI_COMM_WORLD, {"alltoall_algorithm", i % 2 == 0 ? "tra" : "linear",
                                                   "allreduce_algorithm", i % 2 == 0 ? "ring" : "recursive-doubling"}));
  }
  for (int i = 0; i < k_threads; ++i) threads.emplace_back(work, comms[static_cast<std::size_t>(i)], i);
  for (std::thread& thread : threads) thread.join();
  // Rounds on the communicators themselves are served, those on their duplicates as the model decides.
  expect(served.since_made() >= k_threads * 60u, "%u calls served, not %llu", k_threads * 60u, served.since_made());
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
  return job.verdict();
}
