#include "routing/dependencies.h"

#include <algorithm>
#include <numeric>

namespace colltopo {

namespace {
constexpr std::size_t at(LinkId link) { return static_cast<std::size_t>(link); }
}  // namespace

Dependencies::Dependencies(std::size_t links, RouteLinks routes) : first_(links + 1, 0) {
  std::vector<std::vector<LinkId>> wanted(links);  // sorted
  for (const auto& route : routes)
    for (std::size_t i = 1; i < route.size(); ++i) {
      std::vector<LinkId>& known = wanted[at(route[i - 1])];
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

AcyclicLayer::AcyclicLayer(const Dependencies& dependencies, std::vector<std::int32_t> order)
    : dependencies_(dependencies),
      state_(dependencies.size(), State::absent),
      no_second_(dependencies.size()),
      wanted_(dependencies.links()),
      holders_(dependencies.links()),
      order_(std::move(order)),
      place_(dependencies.links(), -1),
      seen_(dependencies.links(), false) {
  if (!order_.empty()) return;
  order_.resize(dependencies.links());
  std::iota(order_.begin(), order_.end(), 0);
}

bool AcyclicLayer::is_known_to_return(DependencyId first, DependencyId second) const {
  const std::vector<DependencyId>& known = no_second_[first];
  return std::find(known.begin(), known.end(), second) != known.end();
}

bool AcyclicLayer::take(std::span<const LinkId> route) {
  bool known = true;
  for (std::size_t i = 1; i < route.size(); ++i) {
    const State state = state_[dependencies_.between(route[i - 1], route[i])];
    if (state == State::forbidden) return false;
    known = known && state == State::present;
  }
  if (known) return true;
  for (std::size_t i = 2; i < route.size(); ++i)
    if (is_known_to_return(dependencies_.between(route[i - 2], route[i - 1]),
                           dependencies_.between(route[i - 1], route[i])))
      return false;
  if (returns(route)) return false;
  for (std::size_t i = 1; i < route.size(); ++i)
    if (state_[dependencies_.between(route[i - 1], route[i])] == State::absent) add(route[i - 1], route[i]);
  return true;
}

/// Whether a link of the route leads to an earlier one of it: together with the route that would be a cycle, and no
/// cycle comes about otherwise.
bool AcyclicLayer::returns(std::span<const LinkId> route) {
  std::int32_t last = 0;  // place in the order beyond which there is no way back
  for (std::size_t i = 0; i < route.size(); ++i) {
    place_[at(route[i])] = static_cast<std::int32_t>(i);
    last = std::max(last, order_[at(route[i])]);
  }
  after_.clear();
  std::span<const LinkId> found;
  // What the later links lead to has been seen already when the earlier ones are looked at.
  for (std::size_t i = route.size(); i-- > 1 && found.empty();) {
    stack_.assign(1, route[i]);
    while (!stack_.empty() && found.empty()) {
      const LinkId link = stack_.back();
      stack_.pop_back();
      for (const LinkId next : wanted_[at(link)]) {
        if (seen_[at(next)] || order_[at(next)] > last) continue;
        seen_[at(next)] = true;
        after_.push_back(next);
        stack_.push_back(next);
        const std::int32_t place = place_[at(next)];
        if (place < 0 || static_cast<std::size_t>(place) >= i) continue;
        found = route.subspan(static_cast<std::size_t>(place), i - static_cast<std::size_t>(place) + 1);
        break;
      }
    }
  }
  for (const LinkId link : after_) seen_[at(link)] = false;
  for (const LinkId link : route) place_[at(link)] = -1;
  if (!found.empty()) forbid(found);
  return !found.empty();
}

/// Dependencies stay, so a part of a route that makes a cycle by itself always will. Short parts are remembered.
void AcyclicLayer::forbid(std::span<const LinkId> part) {
  const DependencyId first = dependencies_.between(part[0], part[1]);
  if (part.size() == 2) state_[first] = State::forbidden;
  if (part.size() == 3) no_second_[first].push_back(dependencies_.between(part[1], part[2]));
}

/// Makes no cycle.
void AcyclicLayer::add(LinkId held, LinkId wanted) {
  if (order_[at(held)] > order_[at(wanted)]) {
    after_.clear();
    before_.clear();
    collect_after(wanted, order_[at(held)]);
    collect_before(held, order_[at(wanted)]);
    for (const LinkId link : after_) seen_[at(link)] = false;
    for (const LinkId link : before_) seen_[at(link)] = false;
    reorder();
  }
  wanted_[at(held)].push_back(wanted);
  holders_[at(wanted)].push_back(held);
  state_[dependencies_.between(held, wanted)] = State::present;
}

/// Collects in after_ what follows `from`, up to the place `most`.
void AcyclicLayer::collect_after(LinkId from, std::int32_t most) {
  stack_.assign(1, from);
  seen_[at(from)] = true;
  after_.push_back(from);
  while (!stack_.empty()) {
    const LinkId link = stack_.back();
    stack_.pop_back();
    for (const LinkId next : wanted_[at(link)]) {
      if (seen_[at(next)] || order_[at(next)] > most) continue;
      seen_[at(next)] = true;
      after_.push_back(next);
      stack_.push_back(next);
    }
  }
}

/// Collects in before_ what leads to `from`, down to the place `least`.
void AcyclicLayer::collect_before(LinkId from, std::int32_t least) {
  stack_.assign(1, from);
  seen_[at(from)] = true;
  before_.push_back(from);
  while (!stack_.empty()) {
    const LinkId link = stack_.back();
    stack_.pop_back();
    for (const LinkId next : holders_[at(link)]) {
      if (seen_[at(next)] || order_[at(next)] < least) continue;
      seen_[at(next)] = true;
      before_.push_back(next);
      stack_.push_back(next);
    }
  }
}

/// The links of both searches share their places anew: those before first, each group in the order it had.
void AcyclicLayer::reorder() {
  const auto by_order = [&](LinkId a, LinkId b) { return order_[at(a)] < order_[at(b)]; };
  std::sort(before_.begin(), before_.end(), by_order);
  std::sort(after_.begin(), after_.end(), by_order);
  before_.insert(before_.end(), after_.begin(), after_.end());
  places_.clear();
  for (const LinkId link : before_) places_.push_back(order_[at(link)]);
  std::sort(places_.begin(), places_.end());
  for (std::size_t i = 0; i < before_.size(); ++i) order_[at(before_[i])] = places_[i];
}

}  // namespace colltopo
