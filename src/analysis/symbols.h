// Values of the symbolic run: leaves (rank, chunk) and reduction trees over them, each tree held once.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "colltopo/schedule.h"

namespace colltopo {

using Symbol = std::int64_t;  // >= 0
inline constexpr Symbol k_nothing = -1;

class Symbols {
 public:
  explicit Symbols(const Shape& shape);

  /// Chunk `chunk` of the input of `rank`.
  Symbol leaf(Rank rank, Chunk chunk) const { return Symbol{rank} * stride_ + chunk; }

  bool is_leaf(Symbol symbol) const { return symbol < leaves_; }

  /// left (op) right. Contributions that both sides hold, or different chunks, make *fault say so.
  Symbol reduced(Symbol left, Symbol right, std::string* fault);

  /// Every rank contributes exactly once to chunk `chunk`.
  bool is_full(Symbol symbol, Chunk chunk) const;
  /// The operands are in the order of ranks, without gaps.
  bool in_rank_order(Symbol symbol) const;
  /// The size class of the value: of the input chunk that it is or is reduced from.
  Chunk size_class(Symbol symbol) const {
    return is_leaf(symbol) ? static_cast<Chunk>(symbol % stride_) : tree_at(symbol).chunk;
  }
  /// "chunk 3 of rank 2", "chunk 3 reduced over ranks 0, 2".
  std::string describe(Symbol symbol) const;

 private:
  struct Tree {
    Chunk chunk;
    Rank first, last;  // of an unbroken sequence of operands in rank order; first = -1: not in order
    Rank contributors;
    std::vector<std::uint64_t> ranks;  // bit set
  };
  const Tree& tree_at(Symbol symbol) const { return trees_[static_cast<std::size_t>(symbol - leaves_)]; }
  Tree tree(Symbol symbol) const;

  Rank ranks_;
  Symbol stride_, leaves_;
  std::vector<Tree> trees_;
  struct Hash {
    std::size_t operator()(const std::pair<Symbol, Symbol>& p) const {
      return static_cast<std::size_t>(p.first) * 0x9E3779B97F4A7C15ull ^ static_cast<std::size_t>(p.second);
    }
  };
  std::unordered_map<std::pair<Symbol, Symbol>, Symbol, Hash> known_;
};

}  // namespace colltopo
