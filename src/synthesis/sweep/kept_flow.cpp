#include "synthesis/sweep/kept_flow.h"

#include <algorithm>

#include "base/parallel.h"

namespace colltopo::synthesis {

namespace {

constexpr int k_halvings = 40;
// A smaller share, of either flow, is not worth the paths that come with it.
constexpr double k_least_blended = 1e-3;

}  // namespace

void KeptFlow::take(const std::vector<PathPool>& pools, std::vector<double> loads) {
  const double share = loads_.empty() ? 1 : best_share(loads);
  if (share > 1 - k_least_blended) {
    const double time = instance_.time_of(loads);
    if (time >= time_) return;
    loads_ = std::move(loads);
    if (answer_ == Answer::routing) pools_ = pools;
    time_ = time;
    return;
  }
  const double time = time_at(share, loads);
  if (share < k_least_blended || time >= time_) return;
  for (std::size_t e = 0; e < loads_.size(); ++e) loads_[e] = (1 - share) * loads_[e] + share * loads[e];
  time_ = time;
  if (answer_ == Answer::routing) blend(pools, share);
}

double KeptFlow::time_at(double share, std::span<const double> loads) const {
  double largest = 0;
  for (std::size_t e = 0; e < loads_.size(); ++e)
    largest = std::max(largest, ((1 - share) * loads_[e] + share * loads[e]) / instance_.class_capacity[e]);
  return largest;
}

double KeptFlow::best_share(std::span<const double> loads) const {
  double low = 0, high = 1;
  for (int i = 0; i < k_halvings; ++i) {
    const double middle = (low + high) / 2, step = (high - low) / 8;
    if (time_at(middle - step, loads) < time_at(middle + step, loads))
      high = middle + step;
    else
      low = middle - step;
  }
  return (low + high) / 2;
}

void KeptFlow::blend(const std::vector<PathPool>& pools, double share) {
  for_each_index(pools_.size(), threads_, [&](std::size_t source, unsigned) {
    const PathPool all = between(pools_[source], pools[source], share);
    pools_[source] = all;  // a copy has no more memory than it needs
  });
}

}  // namespace colltopo::synthesis
