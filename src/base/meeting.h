// Where threads wait for each other many thousand times a second: a std::barrier before which they look for the others
// a while, because to be put to sleep and woken takes about as long as they wait.
#pragma once

#include <atomic>
#include <barrier>
#include <cstddef>
#include <thread>

#include <sched.h>

namespace colltopo {

class Meeting {
 public:
  /// Nobody looks where there are more members than cores for this process: who is waited for may need this one.
  explicit Meeting(std::size_t members)
      : members_(members), looks_(members <= cores() ? k_looks : 0), barrier_(static_cast<std::ptrdiff_t>(members)) {}

  void arrive_and_wait() {
    const std::size_t before = arrived_.fetch_add(1, std::memory_order_relaxed);
    const std::size_t all = (before / members_ + 1) * members_;
    for (int i = 0; i < looks_ && arrived_.load(std::memory_order_relaxed) < all; ++i) rest();
    barrier_.arrive_and_wait();
  }

 private:
  static constexpr int k_looks = 2000;  // some 50 us

  static std::size_t cores() {
    cpu_set_t mine;
    return sched_getaffinity(0, sizeof mine, &mine) == 0 ? static_cast<std::size_t>(CPU_COUNT(&mine))
                                                         : std::thread::hardware_concurrency();
  }

  static void rest() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("isb");
#endif
  }

  std::size_t members_;
  int looks_;
  std::atomic<std::size_t> arrived_{0};  // of all meetings together
  std::barrier<> barrier_;
};

}  // namespace colltopo
