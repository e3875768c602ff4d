#include "analysis/symbols.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace colltopo {

Symbols::Symbols(const Shape& shape) : ranks_(shape.ranks), stride_(1) {
  for (Rank rank : {Rank{0}, shape.root, shape.ranks - 1}) {
    stride_ = std::max<Symbol>(stride_, shape.input_chunks(rank));
  }
  leaves_ = stride_ * ranks_;
}

Symbols::Tree Symbols::tree(Symbol symbol) const {
  if (!is_leaf(symbol)) return tree_at(symbol);
  const auto rank = static_cast<Rank>(symbol / stride_);
  Tree leaf{static_cast<Chunk>(symbol % stride_), rank, rank, 1, {}};
  leaf.ranks.assign((static_cast<std::size_t>(ranks_) + 63) / 64, 0);
  leaf.ranks[static_cast<std::size_t>(rank) / 64] = std::uint64_t{1} << (rank % 64);
  return leaf;
}

Symbol Symbols::reduced(Symbol left, Symbol right, std::string* fault) {
  const auto [found, inserted] = known_.try_emplace({left, right}, leaves_ + static_cast<Symbol>(trees_.size()));
  if (!inserted) return found->second;
  const Tree a = tree(left);
  Tree b = tree(right);
  if (a.chunk != b.chunk) *fault = fmt::format("reduces {} onto {}", describe(left), describe(right));
  for (std::size_t word = 0; word < b.ranks.size(); ++word) {
    if (const std::uint64_t both = a.ranks[word] & b.ranks[word]; both != 0) {
      *fault = fmt::format("counts the contribution of rank {} to chunk {} twice",
                           word * 64 + static_cast<std::size_t>(std::countr_zero(both)), b.chunk);
    }
    b.ranks[word] |= a.ranks[word];
  }
  b.contributors += a.contributors;
  const bool ordered = a.first >= 0 && b.first >= 0 && a.last + 1 == b.first;
  b.first = ordered ? a.first : -1;
  trees_.push_back(std::move(b));
  return found->second;
}

bool Symbols::is_full(Symbol symbol, Chunk chunk) const {
  if (symbol == k_nothing) return false;
  const Tree t = tree(symbol);
  return t.chunk == chunk && t.contributors == ranks_;
}

bool Symbols::in_rank_order(Symbol symbol) const {
  const Tree t = tree(symbol);
  return t.first == 0 && t.last == ranks_ - 1;
}

std::string Symbols::describe(Symbol symbol) const {
  if (symbol == k_nothing) return "nothing";
  const Tree t = tree(symbol);
  if (is_leaf(symbol)) return fmt::format("chunk {} of rank {}", t.chunk, t.first);
  if (t.contributors == ranks_) return fmt::format("chunk {} reduced over all ranks", t.chunk);
  std::string ranks;
  for (Rank rank = 0; rank < ranks_; ++rank) {
    if ((t.ranks[static_cast<std::size_t>(rank) / 64] >> (rank % 64) & 1) != 0)
      ranks += fmt::format("{}{}", ranks.empty() ? "" : ", ", rank);
  }
  return fmt::format("chunk {} reduced over ranks {}", t.chunk, ranks);
}

}  // namespace colltopo
