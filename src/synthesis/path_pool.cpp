// Flat arrays of paths.
#include "synthesis/path_pool.h"

namespace colltopo {

void PathPool::clear() {
  first_path_.assign(1, 0);
  weights_.clear();
  first_link_.assign(1, 0);
  links_.clear();
}

void PathPool::add(double weight, std::span<const LinkId> links) {
  weights_.push_back(weight);
  links_.insert(links_.end(), links.begin(), links.end());
  first_link_.push_back(static_cast<std::uint32_t>(links_.size()));
}

}  // namespace colltopo
