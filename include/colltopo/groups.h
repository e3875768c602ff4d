// Ranks in groups (the ranks of a node, a package ...): any sizes, any numbering. Made once per placement and shared.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "colltopo/shape.h"

namespace colltopo {

class Groups {
 public:
  /// [rank] a label that the ranks of a group share; groups are numbered by their lowest rank.
  explicit Groups(std::span<const int> label_of);
  /// So many consecutive ranks each; the last group may be smaller.
  Groups(Rank ranks, Rank consecutive);

  Rank ranks() const { return static_cast<Rank>(group_of_.size()); }
  Rank groups() const { return static_cast<Rank>(first_.size()) - 1; }
  Rank size(Rank group) const { return first_[at(group + 1)] - first_[at(group)]; }
  Rank largest() const { return largest_; }
  bool equal() const { return largest_ * groups() == ranks(); }

  /// The rank at a position of a group; positions are in the order of ranks.
  Rank member(Rank group, Rank position) const { return members_[at(first_[at(group)] + position)]; }
  Rank group_of(Rank rank) const { return group_of_[at(rank)]; }
  Rank position_of(Rank rank) const { return position_of_[at(rank)]; }
  /// [rank] its group.
  std::span<const Rank> all() const { return group_of_; }

  friend bool operator==(const Groups& a, const Groups& b) { return a.group_of_ == b.group_of_; }

 private:
  static std::size_t at(Rank i) { return static_cast<std::size_t>(i); }
  void number(std::span<const int> label_of);

  std::vector<Rank> group_of_, position_of_;  // [rank]
  std::vector<Rank> members_;                 // group after group
  std::vector<Rank> first_;                   // [group] index into members_
  Rank largest_ = 0;
};

/// Groups of the ranks with these labels, shared by all who ask for equal ones: every communicator does.
std::shared_ptr<const Groups> grouped(const std::vector<int>& label_of);

}  // namespace colltopo
