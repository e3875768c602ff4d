// Numbers of communicators, for tags: equal on the ranks of a communicator, different for any two that share a process.
//
// As MPI libraries find theirs: every rank proposes its lowest free number, the largest proposal is tried, and when it
// is not free everywhere the search goes on above it. Numbers of freed communicators are used again.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <set>

namespace colltopo {

class CommunicatorNumbers {
 public:
  /// Collective: `largest` gives the largest value of all ranks. -1 when numbers have run out.
  std::int32_t agree(const std::function<long long(long long)>& largest);
  void free(std::int32_t number);

 private:
  std::int32_t lowest_free(std::int32_t from);
  bool take(std::int32_t number);

  std::mutex mutex_;
  std::set<std::int32_t> taken_;
};

/// Those of this process.
CommunicatorNumbers& communicator_numbers();

}  // namespace colltopo
