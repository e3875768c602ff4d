#include "analysis/symbol_memory.h"

#include <algorithm>

namespace colltopo {

void append(Stretches& stretches, Stretch next) {
  if (!stretches.empty()) {
    Stretch& last = stretches.back();
    if (next.first == (last.first == k_nothing ? k_nothing : last.first + last.count)) {
      last.count += next.count;
      return;
    }
  }
  stretches.push_back(next);
}

void SymbolMemory::read(std::size_t first, Chunk count, Stretches& to) const {
  for (auto left = static_cast<std::size_t>(count); left > 0;) {
    const Block& block = blocks_[first / block_];
    const std::size_t offset = first % block_;
    const std::size_t here = std::min(left, block_ - offset);
    if (block.mixed == k_uniform) {
      const Stretch whole{block.first, static_cast<Chunk>(block_)};
      append(to, {whole.at(static_cast<Chunk>(offset)), static_cast<Chunk>(here)});
    } else {
      const Symbol* const cells = mixed_.data() + block.mixed * block_ + offset;
      for (std::size_t i = 0; i < here; ++i) append(to, {cells[i], 1});
    }
    first += here;
    left -= here;
  }
}

void SymbolMemory::write(std::size_t first, Stretch what) {
  while (what.count > 0) {
    Block& block = blocks_[first / block_];
    const std::size_t offset = first % block_;
    const auto here = static_cast<Chunk>(std::min(static_cast<std::size_t>(what.count), block_ - offset));
    if (static_cast<std::size_t>(here) == block_ && block.mixed == k_uniform) {
      block.first = what.first;
    } else {
      mix(block);
      Symbol* const cells = mixed_.data() + block.mixed * block_ + offset;
      for (Chunk i = 0; i < here; ++i) cells[i] = what.at(i);
    }
    first += static_cast<std::size_t>(here);
    what = {what.at(here), what.count - here};
  }
}

void SymbolMemory::mix(Block& block) {
  if (block.mixed != k_uniform) return;
  const Stretch whole{block.first, static_cast<Chunk>(block_)};
  block.mixed = static_cast<std::uint32_t>(mixed_.size() / block_);
  for (Chunk i = 0; i < whole.count; ++i) mixed_.push_back(whole.at(i));
}

}  // namespace colltopo
