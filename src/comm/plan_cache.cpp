#include "comm/plan_cache.h"

#include <algorithm>

namespace colltopo {

std::size_t PlanKeyHash::operator()(const PlanKey& key) const noexcept {
  std::size_t hash = reinterpret_cast<std::size_t>(key.algorithm) ^ reinterpret_cast<std::size_t>(key.file.get());
  const auto mix = [&](std::size_t part) { hash = (hash ^ part) * 0x9E3779B97F4A7C15ull; };
  for (const OptionValues::Value& value : key.options.values.all()) mix(static_cast<std::size_t>(value.value));
  for (const int side : key.options.dimensions) mix(static_cast<std::size_t>(side));
  for (const Rank part : {static_cast<Rank>(key.collective), key.rank, key.ranks, key.root, Rank{key.in_place}})
    mix(static_cast<std::size_t>(part));
  return hash ^ hash >> 32;
}

std::shared_ptr<const Bound> SharedPlan::bind(const Binding& binding) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find_if(bounds_, [&](const auto& bound) { return bound->is_for(binding); });
  if (found != bounds_.end()) {
    bounds_.splice(bounds_.begin(), bounds_, found);
    return bounds_.front();
  }
  bounds_.push_front(plans_.bind(binding));
  if (bounds_.size() > k_most_bounds) bounds_.pop_back();
  return bounds_.front();
}

bool SharedPlan::is_independent() {
  const std::lock_guard lock(mutex_);
  return plans_.natural().independent();
}

std::size_t SharedPlan::memory_bytes() const {
  const std::lock_guard lock(mutex_);
  std::size_t bytes = plans_.memory_bytes();
  for (const auto& bound : bounds_) bytes += bound->memory_bytes();
  return bytes;
}

// Never destroyed: communicators may be freed while the process ends.
PlanCache& PlanCache::of_process() {
  static auto* const cache = new PlanCache;
  return *cache;
}

std::shared_ptr<SharedPlan> PlanCache::plan(const PlanKey& key, const Make& make) {
  const std::lock_guard lock(mutex_);
  if (const auto found = entries_.find(key); found != entries_.end()) {
    uses_.splice(uses_.begin(), uses_, found->second.use);
    return found->second.plan;
  }
  std::shared_ptr<SharedPlan> made = make();
  std::list<const PlanKey*> use(1);  // where memory ends, there is no entry without its place
  const auto entry = entries_.emplace(key, Entry{made, use.begin()}).first;
  use.front() = &entry->first;
  uses_.splice(uses_.begin(), use);
  new_ops_ += made->program().size();
  make_room();
  return made;
}

void PlanCache::forget_oldest() {
  const auto oldest = entries_.find(*uses_.back());
  uses_.pop_back();
  entries_.erase(oldest);
}

// The last one made stays, however large it is.
void PlanCache::make_room() {
  if (entries_.size() > k_most_plans) forget_oldest();
  // Adding up takes a look at all of them.
  if (++new_plans_ < 64 && new_ops_ < k_many_ops) return;
  new_plans_ = new_ops_ = 0;
  std::size_t bytes = 0;
  for (const auto& [key, entry] : entries_) bytes += entry.plan->memory_bytes();
  while (entries_.size() > 1 && bytes > k_most_bytes) {
    bytes -= std::min(bytes, entries_.at(*uses_.back()).plan->memory_bytes());
    forget_oldest();
  }
}

}  // namespace colltopo
