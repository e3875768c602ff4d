// How long a rank takes to make its program of a schedule file: the median of eleven times, in seconds, and its ops.
//
//   colltopo-bench-section FILE RANK
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "colltopo/text.h"

int main(int count, char** arguments) {
  using Clock = std::chrono::steady_clock;
  constexpr int k_times = 11;
  if (count != 3) {
    std::fprintf(stderr, "usage: colltopo-bench-section FILE RANK\n");
    return 2;
  }
  try {
    std::vector<double> seconds;
    std::size_t ops = 0;
    for (int i = 0; i < k_times; ++i) {
      const auto begin = Clock::now();
      colltopo::ScheduleFile file(arguments[1]);
      ops = file.program(std::atoi(arguments[2])).size();
      seconds.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
    }
    std::nth_element(seconds.begin(), seconds.begin() + k_times / 2, seconds.end());
    std::printf("%.6f %zu\n", seconds[k_times / 2], ops);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
