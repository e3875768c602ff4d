// Numbering groups by their lowest rank makes the outcome independent of the names that locality gives them.

#include "colltopo/groups.h"

#include <algorithm>
#include <unordered_map>

namespace colltopo {

Groups::Groups(std::span<const int> label_of) { number(label_of); }

Groups::Groups(Rank ranks, Rank consecutive) {
  std::vector<int> label_of(at(ranks));
  for (Rank rank = 0; rank < ranks; ++rank) label_of[at(rank)] = rank / std::max(1, consecutive);
  number(label_of);
}

void Groups::number(std::span<const int> label_of) {
  const auto ranks = static_cast<Rank>(label_of.size());
  group_of_.resize(label_of.size());
  position_of_.resize(label_of.size());
  std::unordered_map<int, Rank> number_of;
  std::vector<Rank> sizes;
  for (Rank rank = 0; rank < ranks; ++rank) {
    // Neighbours mostly share a group, which saves a look into the map.
    const bool as_before = rank > 0 && label_of[at(rank)] == label_of[at(rank - 1)];
    const Rank group = as_before
                           ? group_of_[at(rank - 1)]
                           : number_of.try_emplace(label_of[at(rank)], static_cast<Rank>(sizes.size())).first->second;
    if (at(group) == sizes.size()) sizes.push_back(0);
    group_of_[at(rank)] = group;
    position_of_[at(rank)] = sizes[at(group)]++;
  }
  first_.push_back(0);
  for (const Rank size : sizes) {
    first_.push_back(first_.back() + size);
    largest_ = std::max(largest_, size);
  }
  members_.resize(at(ranks));
  for (Rank rank = 0; rank < ranks; ++rank) members_[at(first_[at(group_of(rank))] + position_of(rank))] = rank;
}

std::shared_ptr<const Groups> grouped(const std::vector<int>& label_of) {
  return std::make_shared<const Groups>(label_of);
}

}  // namespace colltopo
