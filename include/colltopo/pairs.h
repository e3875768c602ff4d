// Which ranks have something for which: the graph of a neighbourhood.
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "colltopo/shape.h"

namespace colltopo {

class Pairs {
 public:
  /// [rank] the ranks that it has something for, in any order; several edges to one count as one.
  explicit Pairs(std::vector<std::vector<Rank>> to) : to_(std::move(to)), from_(to_.size()) {
    for (std::vector<Rank>& all : to_) {
      std::sort(all.begin(), all.end());
      all.erase(std::unique(all.begin(), all.end()), all.end());
    }
    for (Rank from = 0; from < ranks(); ++from)
      for (const Rank rank : to_[at(from)]) from_[at(rank)].push_back(from);
  }

  Rank ranks() const { return static_cast<Rank>(to_.size()); }
  /// Ascending.
  std::span<const Rank> to(Rank from) const { return to_[at(from)]; }
  /// Ascending.
  std::span<const Rank> from(Rank to) const { return from_[at(to)]; }
  bool has(Rank from, Rank to) const { return std::binary_search(to_[at(from)].begin(), to_[at(from)].end(), to); }

  friend bool operator==(const Pairs& a, const Pairs& b) { return a.to_ == b.to_; }

 private:
  static std::size_t at(Rank rank) { return static_cast<std::size_t>(rank); }

  std::vector<std::vector<Rank>> to_, from_;
};

}  // namespace colltopo
