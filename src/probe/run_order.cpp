#include "probe/run_order.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include "probe/meet.h"
#include "probe/middle.h"

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
  constexpr int k_meetings = 20;  // alone on a processor there is hardly a switch in so many
  constexpr double k_meetings_asleep = 6, k_longest_sleep = 3e-3;  // s
  meet(comm);
  const long before = switches();
  std::vector<double> meetings(k_meetings);
  for (double& seconds : meetings) {
    const double start = MPI_Wtime();
    meet(comm);
    seconds = MPI_Wtime() - start;
  }
  double meeting = probe::median_of(meetings);
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
