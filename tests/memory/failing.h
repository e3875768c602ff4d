// Allocations of this process that fail.
#pragma once

#include <cstddef>

namespace colltopo::memory {

/// Whether allocations count, how many have, and which one fails.
extern bool armed;
extern long allocations, failing;

/// The test's own allocations do not count.
class Apart {
 public:
  Apart() : was_(armed) { armed = false; }
  ~Apart() { armed = was_; }
  Apart(const Apart&) = delete;
  Apart& operator=(const Apart&) = delete;

 private:
  bool was_;
};

}  // namespace colltopo::memory
