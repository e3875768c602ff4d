// What a rank's chunks hold during the symbolic run.
//
// Values mostly lie side by side as they did in somebody's input, so memory is kept in blocks of one shard: a block
// that holds consecutive symbols takes a dozen bytes, whatever its number of chunks; any other a symbol per chunk.
#pragma once

#include <vector>

#include "analysis/symbols.h"

namespace colltopo {

/// `count` consecutive symbols from `first`, or that many times nothing.
struct Stretch {
  Symbol first = k_nothing;
  Chunk count = 0;

  Symbol at(Chunk offset) const { return first == k_nothing ? k_nothing : first + offset; }
};
using Stretches = std::vector<Stretch>;

/// Joins to the last stretch what continues it.
void append(Stretches& stretches, Stretch next);

class SymbolMemory {
 public:
  /// `block`: cells per block, at least 1.
  SymbolMemory(std::size_t cells, Chunk block)
      : block_(static_cast<std::size_t>(block)), blocks_((cells + block_ - 1) / block_) {}

  void read(std::size_t first, Chunk count, Stretches& to) const;
  void write(std::size_t first, Stretch what);

 private:
  static constexpr std::uint32_t k_uniform = ~std::uint32_t{0};
  struct Block {
    Symbol first = k_nothing;         // of a uniform block
    std::uint32_t mixed = k_uniform;  // otherwise: cell i is mixed_[mixed * block_ + i]
  };
  void mix(Block& block);

  std::size_t block_;
  std::vector<Block> blocks_;
  std::vector<Symbol> mixed_;
};

}  // namespace colltopo
