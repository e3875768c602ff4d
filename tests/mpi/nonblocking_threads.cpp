// MPI_THREAD_MULTIPLE: threads that begin calls on communicators of their own and wait for them, while other threads
// make progress, so that any of them may move on and complete what another began; requests begun in one thread and
// waited for in another.
#include <atomic>
#include <memory>
#include <mutex>
#include <thread>

#include "calls.h"

namespace {

using namespace mpi_test;

std::mutex expecting;
std::atomic<bool> is_over = false;

void check(const One& call) {
  const std::lock_guard lock(expecting);
  call.check();
}

void work(MPI_Comm comm, int thread) {
  for (int round = 0; round < 25; ++round) {
    MPI_Comm duplicate = MPI_COMM_NULL;
    MPI_Comm_dup(comm, &duplicate);
    const MPI_Comm used = round % 2 == 0 ? duplicate : comm;
    std::vector<std::unique_ptr<One>> calls;
    for (int i = 0; i < 12; ++i) {
      calls.push_back(std::make_unique<One>(used, k_kinds[static_cast<std::size_t>(i + round) % std::size(k_kinds)],
                                            static_cast<std::size_t>(1 + (round * 7 + i) % 40), i, false,
                                            thread * 100 + i));
      if (i % 4 == 3) {
        calls.back()->init();
        MPI_Start(calls.back()->request());
      } else {
        calls.back()->start();
      }
    }
    // Half of them are waited for by another thread.
    std::thread other([&] {
      for (std::size_t i = 0; i < calls.size(); i += 2) MPI_Wait(calls[i]->request(), MPI_STATUS_IGNORE);
    });
    for (std::size_t i = 1; i < calls.size(); i += 2) MPI_Wait(calls[i]->request(), MPI_STATUS_IGNORE);
    other.join();
    for (const auto& call : calls) {
      check(*call);
      if (*call->request() != MPI_REQUEST_NULL) MPI_Request_free(call->request());
    }
    MPI_Comm_free(&duplicate);
  }
}

void make_progress() {
  int found = 0;
  while (!is_over) {
    MPI_Iprobe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    std::this_thread::yield();
  }
}

}  // namespace

int main(int argc, char** argv) {
  mpi_test::Job job(&argc, &argv, MPI_THREAD_MULTIPLE);
  expect(job.provided == MPI_THREAD_MULTIPLE, "MPI_THREAD_MULTIPLE");
  constexpr int k_threads = 3;
  const Counter served("coll_topo_operations");
  std::vector<MPI_Comm> comms;
  std::vector<std::thread> threads;
  for (int i = 0; i < k_threads; ++i) comms.push_back(served_by_force(MPI_COMM_WORLD));
  for (int i = 0; i < k_threads; ++i) threads.emplace_back(work, comms[static_cast<std::size_t>(i)], i);
  std::thread progress(make_progress);
  for (std::thread& thread : threads) thread.join();
  is_over = true;
  progress.join();
  // Rounds on the communicators themselves are served, those on their duplicates as the model decides.
  expect(served.since_made() >= k_threads * 12 * 12u, "%u calls served, not %llu", k_threads * 12 * 12u,
         served.since_made());
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
  return job.verdict();
}
