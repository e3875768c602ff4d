// Ranks in groups (the ranks of a node, a package ...), for TRA2: any sizes, any numbering.
#pragma once

#include <vector>

#include "colltopo/algorithms.h"
#include "colltopo/shape.h"

namespace colltopo {

class Groups {
 public:
  /// By options.group_of when it is given (its values are names; groups are numbered by their lowest rank), else
  /// `options.group` consecutive ranks each, else the divisor of `ranks` next to its square root from below.
  Groups(Rank ranks, const AlgorithmOptions& options);

  Rank ranks() const { return static_cast<Rank>(group_of_.size()); }
  Rank groups() const { return static_cast<Rank>(first_.size()) - 1; }
  Rank size(Rank group) const { return first_[at(group + 1)] - first_[at(group)]; }
  Rank largest() const { return largest_; }
  bool equal() const { return largest_ * groups() == ranks(); }

  /// The rank at a position of a group; positions are in the order of ranks.
  Rank member(Rank group, Rank position) const { return members_[at(first_[at(group)] + position)]; }
  Rank group_of(Rank rank) const { return group_of_[at(rank)]; }
  Rank position_of(Rank rank) const { return position_of_[at(rank)]; }

 private:
  static std::size_t at(Rank i) { return static_cast<std::size_t>(i); }

  std::vector<Rank> group_of_, position_of_;  // [rank]
  std::vector<Rank> members_;                 // group after group
  std::vector<Rank> first_;                   // [group] index into members_
  Rank largest_ = 0;
};

}  // namespace colltopo
