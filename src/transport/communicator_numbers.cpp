#include "transport/communicator_numbers.h"

#include "transport/message_tag.h"

namespace colltopo {

std::int32_t CommunicatorNumbers::lowest_free(std::int32_t from) {
  const std::lock_guard lock(mutex_);
  while (taken_.contains(from)) ++from;
  return from;
}

bool CommunicatorNumbers::take(std::int32_t number) {
  const std::lock_guard lock(mutex_);
  return taken_.insert(number).second;
}

void CommunicatorNumbers::free(std::int32_t number) {
  const std::lock_guard lock(mutex_);
  taken_.erase(number);
}

// Threads of this process may be about other communicators meanwhile.
std::int32_t CommunicatorNumbers::agree(const std::function<long long(long long)>& largest) {
  for (std::int32_t from = 0;;) {
    const auto number = static_cast<std::int32_t>(largest(lowest_free(from)));
    if (number >= k_most_tagged_communicators) return -1;
    const bool took = take(number);
    if (largest(took ? 0 : 1) == 0) return number;
    if (took) free(number);
    from = number + 1;
  }
}

CommunicatorNumbers& communicator_numbers() {
  static auto* const numbers = new CommunicatorNumbers;  // stays: communicators may be freed while the process ends
  return *numbers;
}

}  // namespace colltopo
