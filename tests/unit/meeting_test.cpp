// Threads that meet again and again, on as many cores as there are and on fewer.
#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/meeting.h"

namespace colltopo {
namespace {

TEST(Meeting, nobody_goes_on_before_all_have_come) {
  constexpr int k_meetings = 2000;
  for (const std::size_t members :
       {std::size_t{1}, std::size_t{2}, 3 * std::size_t{std::max(1U, std::thread::hardware_concurrency())}}) {
    Meeting meeting(members);
    std::atomic<std::size_t> come{0}, early{0};
    {
      std::vector<std::jthread> threads;
      for (std::size_t member = 0; member < members; ++member)
        threads.emplace_back([&] {
          for (std::size_t i = 1; i <= k_meetings; ++i) {
            ++come;
            meeting.arrive_and_wait();
            if (come < i * members) ++early;
          }
        });
    }
    EXPECT_EQ(come, k_meetings * members);
    EXPECT_EQ(early, 0U);
  }
}

}  // namespace
}  // namespace colltopo
