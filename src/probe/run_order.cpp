#include "probe/run_order.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "probe/meet.h"

namespace colltopo {

namespace {

// Of this process, by the kernel.
long switches() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_nvcsw + usage.ru_nivcsw;
}

}  // namespace

RunOrder::RunOrder(MPI_Comm comm) {
  constexpr int k_meetings = 20;                                   // alone on a processor there is hardly a switch in so many
  constexpr double k_meetings_asleep = 6, k_longest_sleep = 3e-4;  // s
  meet(comm);
  const long before = switches();
  const double start = MPI_Wtime();
  for (int i = 0; i < k_meetings; ++i) meet(comm);
  double meeting = (MPI_Wtime() - start) / k_meetings;
  if (switches() - before < k_meetings / 2) meeting = 0;
  MPI_Allreduce(MPI_IN_PLACE, &meeting, 1, MPI_DOUBLE, MPI_MAX, comm);
  longest_ = std::min(k_longest_sleep, k_meetings_asleep * meeting);
}

void RunOrder::shuffle() {
  if (!is_shared()) return;
  std::uniform_real_distribution<> seconds(0, longest_);
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds(random_)));
}

}  // namespace colltopo
