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
  explicit Pairs(std::vector<std::vector<Rank>> to) : to_(std::move(to)) {
    for (std::vector<Rank>& all : to_) {
      std::sort(all.begin(), all.end());
      all.erase(std::unique(all.begin(), all.end()), all.end());
    }
  }

  Rank ranks() const { return static_cast<Rank>(to_.size()); }
  /// Ascending.
  std::span<const Rank> to(Rank from) const { return to_[static_cast<std::size_t>(from)]; }

  friend bool operator==(const Pairs&, const Pairs&) = default;

 private:
  std::vector<std::vector<Rank>> to_;
};

}  // namespace colltopo
