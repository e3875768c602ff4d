// Ranks that share a processor are seen to, and sleep; one that is alone never does. By the kernel's counts.
#include "probe/run_order.h"

#include <sched.h>
#include <sys/resource.h>

#include "mpi_test.h"

namespace {

// The first of those that this process may use.
bool stay_on_one_processor() {
  cpu_set_t all;
  if (sched_getaffinity(0, sizeof all, &all) != 0) return false;
  int first = 0;
  while (first < CPU_SETSIZE && !CPU_ISSET(first, &all)) ++first;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  return sched_setaffinity(0, sizeof one, &one) == 0;
}

// Of this process: each gives the processor up.
long sleeps() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_nvcsw;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace mpi_test;
  const bool stays = stay_on_one_processor();
  mpi_test::Job job(&argc, &argv);
  expect(stays, "to stay on one processor");
  colltopo::RunOrder order(MPI_COMM_WORLD);
  const bool shares = job.ranks > 1;
  expect(order.is_shared() == shares, "%d ranks on one processor to be seen as such", job.ranks);

  constexpr int k_times = 20;
  const long before = sleeps();
  for (int i = 0; i < k_times; ++i) order.shuffle();
  const long slept = sleeps() - before;
  expect((slept >= k_times) == shares, "%s, not %ld sleeps", shares ? "a sleep each time" : "no sleep", slept);
  return job.verdict();
}
