#include "comm/recent_calls.h"

#include <utility>

#include "comm/call_sizes.h"

namespace colltopo {

constinit const RecentCalls::Block RecentCalls::k_none{};

bool RecentCalls::has_sizes_of(const RecentCall& entry, Collective collective,
                               const colltopo_call& call) const noexcept {
  return same_sizes(collective, call, rank_, ranks_, entry.sizes);
}

// Sizes whose search begins in one place share the others.
const RecentCall* RecentCalls::find_elsewhere(const Block& all, std::size_t first, Collective collective,
                                              const colltopo_call& call) const noexcept {
  for (std::size_t i = 1; i < k_most; ++i) {
    const RecentCall& entry = all[(first + i) % k_most];
    if (is_like(entry, collective, call)) return &entry;
  }
  return nullptr;
}

void RecentCalls::note(Collective collective, const colltopo_call& call, std::shared_ptr<Ready> ready) {
  const std::size_t index = index_of(collective), first = place_of(call);
  if (known_[index] == nullptr) known_[index] = std::make_unique<Block>();
  Block& all = *known_[index];
  RecentCall noted;
  noted.count = call.count;
  noted.element_size = call.element_size;
  noted.root = call.root;
  noted.op_properties = call.op_properties;
  noted.in_place = call.in_place;
  noted.previous_is_wrong = call.previous_is_wrong != 0;
  noted.valid = true;
  keep_sizes(collective, call, rank_, ranks_, noted.sizes);
  noted.decisive_bytes = call.blocks == nullptr ? 0 : decisive_bytes(collective, call, ranks_);
  noted.ready = std::move(ready);
  std::size_t place = first;
  while (all[place % k_most].valid && place < first + k_most) ++place;
  if (place == first + k_most) place = ++turn_;
  std::swap(all[place % k_most], noted);
  seen_[index] = &all;
}

void RecentCalls::forget() noexcept {
  for (std::size_t i = 0; i < k_calls; ++i) forget(static_cast<Collective>(i));
}

void RecentCalls::forget(Collective collective) noexcept {
  Block* const all = known_[index_of(collective)].get();
  if (all != nullptr) all->fill({});
}

void RecentCalls::show() noexcept {
  for (std::size_t i = 0; i < k_calls; ++i)
    if (known_[i] != nullptr) seen_[i] = known_[i].get();
}

std::size_t RecentCalls::memory_bytes() const noexcept {
  std::size_t bytes = 0;
  for (const auto& all : known_) bytes += all == nullptr ? 0 : sizeof(Block);
  return bytes;
}

}  // namespace colltopo
