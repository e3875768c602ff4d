#include "comm/watch.h"

#include <algorithm>
#include <cmath>

#include "base/deadline.h"

namespace colltopo {

void Watch::begin(double interval_s, std::string stamp) {
  interval_s_ = interval_s;
  read_ = std::move(stamp);
  before_ = read_;
  last_ = last_on_disk_ = Clock::now();
  is_on_ = true;
  counted() = between_ = k_first_ticks;
}

// Looks may come sooner than the file system should be asked.
bool Watch::is_due() const noexcept { return seconds_since(last_on_disk_) >= interval_s_ / 2; }

bool Watch::saw(const std::string& stamp) {
  last_on_disk_ = Clock::now();
  const bool stands = stamp == before_;
  before_ = stamp;
  return stands && stamp != read_;
}

std::int64_t Watch::proposal() const noexcept {
  const double elapsed = std::max(seconds_since(last_), 1e-9);
  // Twice a look's interval: what has changed is taken at the second look.
  const double wanted = static_cast<double>(between_) * interval_s_ / 2 / elapsed;
  return static_cast<std::int64_t>(std::clamp(wanted, 1.0, static_cast<double>(k_most_ticks)));
}

void Watch::continues(std::int64_t ticks) noexcept {
  between_ = counted() = ticks;
  last_ = Clock::now();
}

}  // namespace colltopo
