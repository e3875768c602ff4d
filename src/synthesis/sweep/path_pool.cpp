// Flat arrays of paths.
#include "synthesis/sweep/path_pool.h"

#include <cassert>
#include <cstring>

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

}  // namespace

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
