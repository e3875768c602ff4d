// Work in a process of its own, so that its peak of memory is no other's, and what it costs.
#pragma once

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>
#include <exception>

namespace colltopo {

/// False when the work threw, which is then said on standard error.
template <typename Work>
bool in_own_process(const Work& work) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    try {
      work();
      std::fflush(stdout);
      _exit(0);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
      _exit(2);
    }
  }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) >= 0 && status == 0;
}

inline double seconds_now(clockid_t clock) {
  timespec now = {};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// By the clock on the wall, or of the processor: of all threads, whatever else the machine does.
template <typename Work>
double seconds(clockid_t clock, const Work& work) {
  const double start = seconds_now(clock);
  work();
  return seconds_now(clock) - start;
}

inline double peak_MiB() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

}  // namespace colltopo
