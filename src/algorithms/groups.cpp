// Numbering groups by their lowest rank makes the outcome independent of the names that locality gives them.

#include "colltopo/groups.h"

#include <algorithm>
#include <list>
#include <mutex>
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
  constexpr Rank k_none = -1;
  std::vector<Rank> number_of(label_of.size(), k_none);  // of labels that are numbers of ranks, as most are
  std::unordered_map<int, Rank> number_of_others;
  std::vector<Rank> sizes;
  const auto numbered = [&](int label) {
    const auto next = static_cast<Rank>(sizes.size());
    if (label < 0 || label >= ranks) return number_of_others.try_emplace(label, next).first->second;
    Rank& number = number_of[at(label)];
    if (number == k_none) number = next;
    return number;
  };
  for (Rank rank = 0; rank < ranks; ++rank) {
    // Neighbours mostly share a group, which saves a look into the map.
    const bool as_before = rank > 0 && label_of[at(rank)] == label_of[at(rank - 1)];
    const Rank group = as_before ? group_of_[at(rank - 1)] : numbered(label_of[at(rank)]);
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
  struct Known {
    std::vector<int> label_of;
    std::shared_ptr<const Groups> groups;
  };
  constexpr std::size_t k_most = 8;
  static auto* const mutex = new std::mutex;  // as communicators are made on any thread, and freed while a process ends
  static auto* const all = new std::list<Known>;  // least recently asked for last
  const std::lock_guard lock(*mutex);
  const auto found = std::ranges::find(*all, label_of, &Known::label_of);
  if (found != all->end()) {
    all->splice(all->begin(), *all, found);
    return found->groups;
  }
  all->push_front({label_of, std::make_shared<const Groups>(label_of)});
  if (all->size() > k_most) all->pop_back();
  return all->front().groups;
}

}  // namespace colltopo
