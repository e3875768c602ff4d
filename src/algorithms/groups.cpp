// Numbering groups by their lowest rank makes the outcome independent of the names that locality gives them.

#include "algorithms/groups.h"

#include <algorithm>
#include <unordered_map>

namespace colltopo {

namespace {

Rank divisor_below_root(Rank ranks) {
  Rank divisor = 1;
  for (Rank d = 2; d <= ranks / d; ++d) {
    if (ranks % d == 0) divisor = d;
  }
  return divisor;
}

}  // namespace

Groups::Groups(Rank ranks, const AlgorithmOptions& options) : group_of_(at(ranks)), position_of_(at(ranks)) {
  const Rank consecutive = options.group > 0 ? options.group : divisor_below_root(ranks);
  std::unordered_map<int, Rank> number_of;
  std::vector<Rank> sizes;
  for (Rank rank = 0; rank < ranks; ++rank) {
    const int label = options.group_of.empty() ? rank / consecutive : options.group_of[at(rank)];
    const Rank group = number_of.try_emplace(label, static_cast<Rank>(sizes.size())).first->second;
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

}  // namespace colltopo
