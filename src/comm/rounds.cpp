#include "comm/rounds.h"

#include <algorithm>

namespace colltopo {

void Rounds::begin(const Race::Plan& plan) {
  order_ = plan.order;
  block_calls_ = std::max<std::size_t>(2, plan.block_calls);
  place_ = 0;
  times_.assign(order_.size(), {});
  for (std::vector<double>& times : times_) times.reserve(block_calls_);
}

// Without memory of its own: for callers that may not fail.
void Rounds::add(std::size_t place, double seconds) noexcept {
  std::vector<double>& times = times_[place / block_calls_];
  if (times.size() < times.capacity()) times.push_back(std::clamp(seconds, k_least_time, k_no_time));
}

std::vector<Block> Rounds::blocks() const {
  std::vector<Block> blocks;
  for (const std::vector<double>& times : times_)
    blocks.push_back(times.empty() ? Block{k_no_time, 0} : block_of(times));
  return blocks;
}

}  // namespace colltopo
