#include "colltopo/arena.h"

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <new>

namespace colltopo {

// The smallest idle block that is large enough. Where none is, a new one: what it outgrew goes when it comes back.
Arena::Block Arena::lease(std::size_t bytes) {
  auto best = idle_.end();
  for (auto block = idle_.begin(); block != idle_.end(); ++block) {
    if (block->bytes() >= bytes && (best == idle_.end() || block->bytes() < best->bytes())) best = block;
  }
  if (best == idle_.end()) return Block(std::max<std::size_t>(bytes, k_alignment));
  Block found = std::move(*best);
  idle_bytes_ -= found.bytes();
  std::swap(*best, idle_.back());
  idle_.pop_back();
  return found;
}

void Arena::give_back(Block block) noexcept {
  if (block.data() == nullptr || block.bytes() > k_most_idle_bytes) return;
  while (!idle_.empty() && idle_bytes_ + block.bytes() > k_most_idle_bytes) {
    const auto smallest = std::ranges::min_element(idle_, {}, &Block::bytes);
    idle_bytes_ -= smallest->bytes();
    std::swap(*smallest, idle_.back());
    idle_.pop_back();
  }
  try {
    idle_.push_back(std::move(block));
  } catch (const std::bad_alloc&) {
    return;  // freed
  }
  idle_bytes_ += idle_.back().bytes();
}

// Reachable, so that a checker of leaks does not report what is meant.
void Arena::keep_for_ever(Block block) noexcept {
  alignas(std::mutex) static std::byte mutex_place[sizeof(std::mutex)];
  alignas(std::vector<Block>) static std::byte kept_place[sizeof(std::vector<Block>)];
  static auto* const mutex = new (mutex_place) std::mutex;
  static auto* const kept = new (kept_place) std::vector<Block>;
  const std::lock_guard lock(*mutex);
  try {
    kept->emplace_back();
    kept->back() = std::move(block);
  } catch (const std::bad_alloc&) {
    new (&block) Block;  // lost rather than freed
  }
}

}  // namespace colltopo
