#include "routing/dependencies.h"

#include <algorithm>
#include <numeric>

#include "base/index.h"

namespace colltopo {

Dependencies::Dependencies(std::size_t links, RouteLinks routes) : first_(links + 1, 0) {
  std::vector<std::vector<LinkId>> wanted(links);  // sorted
  for (const auto& route : routes)
    for (std::size_t i = 1; i < route.size(); ++i) {
      std::vector<LinkId>& known = wanted[index(route[i - 1])];
      const auto place = std::lower_bound(known.begin(), known.end(), route[i]);
      if (place == known.end() || *place != route[i]) known.insert(place, route[i]);
    }
  for (std::size_t link = 0; link < links; ++link) {
    first_[link + 1] = first_[link] + static_cast<DependencyId>(wanted[link].size());
    wanted_.insert(wanted_.end(), wanted[link].begin(), wanted[link].end());
  }
}

DependencyId Dependencies::between(LinkId held, LinkId wanted) const {
  const std::span<const LinkId> known = this->wanted(held);
  return first_of(held) +
         static_cast<DependencyId>(std::lower_bound(known.begin(), known.end(), wanted) - known.begin());
}

void Dependencies::along(std::span<const LinkId> route, std::vector<DependencyId>& dependencies) const {
  dependencies.clear();
  for (std::size_t i = 1; i < route.size(); ++i) dependencies.push_back(between(route[i - 1], route[i]));
}

AcyclicLayer::AcyclicLayer(const Dependencies& dependencies, std::vector<std::int32_t> order)
    : dependencies_(dependencies),
      state_(dependencies.size(), State::absent),
      leads_(std::size_t{1} << k_memory_bits, {-1, -1}),
      wanted_(dependencies.links()),
      holders_(dependencies.links()),
      order_(std::move(order)),
      place_(dependencies.links(), -1),
      seen_(dependencies.links(), false) {
  if (!order_.empty()) return;
  order_.resize(dependencies.links());
  std::iota(order_.begin(), order_.end(), 0);
}

bool AcyclicLayer::take(std::span<const LinkId> route, std::span<const DependencyId> dependencies) {
  bool known = true;
  for (const DependencyId dependency : dependencies) {
    const State state = state_[dependency];
    if (state == State::forbidden) return false;
    known = known && state == State::present;
  }
  if (known) return true;
  if (is_known_to_return(route) || returns(route)) return false;
  for (std::size_t i = 1; i < route.size(); ++i)
    if (state_[dependencies[i - 1]] == State::absent) add(route[i - 1], route[i], dependencies[i - 1]);
  return true;
}

std::size_t AcyclicLayer::memory_of(LinkId from, LinkId to) {
  const std::uint64_t key = static_cast<std::uint64_t>(from) << 32 | static_cast<std::uint32_t>(to);
  return static_cast<std::size_t>(key * 0x9e3779b97f4a7c15U >> (64 - k_memory_bits));
}

/// Dependencies stay, so what a link leads to once it always will.
bool AcyclicLayer::is_known_to_return(std::span<const LinkId> route) const {
  for (std::size_t i = 1; i < route.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (order_[index(route[i])] < order_[index(route[j])] &&
          leads_[memory_of(route[i], route[j])] == std::pair(route[i], route[j]))
        return true;
  return false;
}

/// Whether a link of the route leads to an earlier one of it: together with the route that would be a cycle, and no
/// cycle comes about otherwise.
bool AcyclicLayer::returns(std::span<const LinkId> route) {
  limits_.assign(1, -1);  // [place] the last place in the order from which there is a way to an earlier link
  for (std::size_t i = 0; i < route.size(); ++i) {
    place_[index(route[i])] = static_cast<std::int32_t>(i);
    limits_.push_back(std::max(limits_.back(), order_[index(route[i])]));
  }
  after_.clear();
  bool found = false;
  // What the later links lead to has been seen already, as far as it matters, when the earlier ones are looked at.
  for (std::size_t i = route.size(); i-- > 1 && !found;) {
    const std::int32_t last = limits_[i];
    if (order_[index(route[i])] > last) continue;
    stack_.assign(1, route[i]);
    while (!stack_.empty() && !found) {
      const LinkId link = stack_.back();
      stack_.pop_back();
      for (const LinkId next : wanted_[index(link)]) {
        if (seen_[index(next)] || order_[index(next)] > last) continue;
        seen_[index(next)] = true;
        after_.push_back(next);
        stack_.push_back(next);
        const std::int32_t place = place_[index(next)];
        if (place < 0 || static_cast<std::size_t>(place) >= i) continue;
        found = true;
        forbid(route.subspan(static_cast<std::size_t>(place), i - static_cast<std::size_t>(place) + 1));
        break;
      }
    }
  }
  for (const LinkId link : after_) seen_[index(link)] = false;
  for (const LinkId link : route) place_[index(link)] = -1;
  return found;
}

/// The last link of this part of a route leads back to the first.
void AcyclicLayer::forbid(std::span<const LinkId> part) {
  if (part.size() == 2) state_[dependencies_.between(part[0], part[1])] = State::forbidden;
  leads_[memory_of(part.back(), part.front())] = {part.back(), part.front()};
}

/// Makes no cycle.
void AcyclicLayer::add(LinkId held, LinkId wanted, DependencyId dependency) {
  if (order_[index(held)] > order_[index(wanted)]) {
    after_.clear();
    before_.clear();
    collect_after(wanted, order_[index(held)]);
    collect_before(held, order_[index(wanted)]);
    for (const LinkId link : after_) seen_[index(link)] = false;
    for (const LinkId link : before_) seen_[index(link)] = false;
    reorder();
  }
  wanted_[index(held)].push_back(wanted);
  holders_[index(wanted)].push_back(held);
  state_[dependency] = State::present;
}

/// Collects in after_ what follows `from`, up to the place `most`.
void AcyclicLayer::collect_after(LinkId from, std::int32_t most) {
  stack_.assign(1, from);
  seen_[index(from)] = true;
  after_.push_back(from);
  while (!stack_.empty()) {
    const LinkId link = stack_.back();
    stack_.pop_back();
    for (const LinkId next : wanted_[index(link)]) {
      if (seen_[index(next)] || order_[index(next)] > most) continue;
      seen_[index(next)] = true;
      after_.push_back(next);
      stack_.push_back(next);
    }
  }
}

/// Collects in before_ what leads to `from`, down to the place `least`.
void AcyclicLayer::collect_before(LinkId from, std::int32_t least) {
  stack_.assign(1, from);
  seen_[index(from)] = true;
  before_.push_back(from);
  while (!stack_.empty()) {
    const LinkId link = stack_.back();
    stack_.pop_back();
    for (const LinkId next : holders_[index(link)]) {
      if (seen_[index(next)] || order_[index(next)] < least) continue;
      seen_[index(next)] = true;
      before_.push_back(next);
      stack_.push_back(next);
    }
  }
}

/// The links of both searches share their places anew: those before first, each group in the order it had.
void AcyclicLayer::reorder() {
  const auto by_order = [&](LinkId a, LinkId b) { return order_[index(a)] < order_[index(b)]; };
  std::sort(before_.begin(), before_.end(), by_order);
  std::sort(after_.begin(), after_.end(), by_order);
  before_.insert(before_.end(), after_.begin(), after_.end());
  places_.clear();
  for (const LinkId link : before_) places_.push_back(order_[index(link)]);
  std::sort(places_.begin(), places_.end());
  for (std::size_t i = 0; i < before_.size(); ++i) order_[index(before_[i])] = places_[i];
}

}  // namespace colltopo
