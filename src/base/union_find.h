// Sets of numbers that grow together (union-find with path halving); each is known by its smallest member.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace colltopo {

class UnionFind {
 public:
  explicit UnionFind(std::size_t members) : parent_(members), sets_(members) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }

  /// The smallest member of its set.
  std::int32_t smallest(std::int32_t member) {
    while (above(member) != member) member = above(member) = above(above(member));
    return member;
  }
  /// Whether they were of different sets until now.
  bool join(std::int32_t a, std::int32_t b) {
    a = smallest(a);
    b = smallest(b);
    if (a == b) return false;
    above(std::max(a, b)) = std::min(a, b);
    --sets_;
    return true;
  }
  std::size_t sets() const { return sets_; }
  /// [member] the number of its set; sets in the order of their smallest members.
  std::vector<std::int32_t> numbered() {
    std::vector<std::int32_t> number(parent_.size());
    std::int32_t next = 0;
    for (std::size_t member = 0; member < parent_.size(); ++member) {
      const auto root = static_cast<std::size_t>(smallest(static_cast<std::int32_t>(member)));
      number[member] = root == member ? next++ : number[root];
    }
    return number;
  }

 private:
  std::int32_t& above(std::int32_t member) { return parent_[static_cast<std::size_t>(member)]; }

  std::vector<std::int32_t> parent_;
  std::size_t sets_;
};

}  // namespace colltopo
