// Flat arrays of paths.
#include "synthesis/sweep/path_pool.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "colltopo/routing.h"

namespace colltopo::synthesis {

namespace {

template <typename Value>
void pack_values(const std::vector<Value>& values, std::vector<std::byte>& bytes) {
  const std::uint64_t count = values.size();
  const std::size_t at = bytes.size();
  bytes.resize(at + sizeof count + count * sizeof(Value));
  std::memcpy(bytes.data() + at, &count, sizeof count);
  if (count > 0) std::memcpy(bytes.data() + at + sizeof count, values.data(), count * sizeof(Value));
}

template <typename Value>
void unpack_values(std::span<const std::byte>& bytes, std::vector<Value>& values) {
  std::uint64_t count = 0;
  assert(bytes.size() >= sizeof count);
  std::memcpy(&count, bytes.data(), sizeof count);
  const std::size_t size = count * sizeof(Value);
  assert(bytes.size() >= sizeof count + size);
  values.resize(count);
  if (count > 0) std::memcpy(values.data(), bytes.data() + sizeof count, size);
  bytes = bytes.subspan(sizeof count + size);
}

/// Adds `share` of the target's flow to what stands for it in `all` from path `first` on.
void add_share(const PathPool& pool, NodeId target, double share, std::size_t first, PathPool& all) {
  const double sum = weight_in_use(pool, target);
  for (std::size_t path = pool.first(target); path < pool.first(target + 1); ++path) {
    if (pool.weight(path) <= k_least_share) continue;
    const double weight = share * pool.weight(path) / sum;
    std::size_t same = first;
    while (same < all.paths() && !std::ranges::equal(all.links(same), pool.links(path))) ++same;
    if (same < all.paths())
      all.weight(same) += weight;
    else
      all.add(weight, pool.links(path));
  }
}

}  // namespace

double weight_in_use(const PathPool& pool, NodeId target) {
  double sum = 0;
  for (std::size_t path = pool.first(target); path < pool.first(target + 1); ++path)
    if (pool.weight(path) > k_least_share) sum += pool.weight(path);
  return sum;
}

PathPool between(const PathPool& one, const PathPool& other, double share) {
  PathPool all;
  for (NodeId target = 0; target < static_cast<NodeId>(one.targets()); ++target) {
    const std::size_t first = all.paths();
    add_share(one, target, 1 - share, first, all);
    add_share(other, target, share, first, all);
    all.end_target();
  }
  return all;
}

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

void PathPool::pack(std::vector<std::byte>& bytes) const {
  pack_values(first_path_, bytes);
  pack_values(weights_, bytes);
  pack_values(first_link_, bytes);
  pack_values(links_, bytes);
}

void PathPool::unpack(std::span<const std::byte>& bytes) {
  unpack_values(bytes, first_path_);
  unpack_values(bytes, weights_);
  unpack_values(bytes, first_link_);
  unpack_values(bytes, links_);
}

}  // namespace colltopo::synthesis
