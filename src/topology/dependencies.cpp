#include "topology/dependencies.h"

#include <algorithm>
#include <numeric>

namespace colltopo {

namespace {
constexpr std::size_t at(LinkId link) { return static_cast<std::size_t>(link); }
}  // namespace

Dependencies::Dependencies(const Topology& topology)
    : topology_(topology), first_(topology.links().size() + 1, 0), place_(topology.links().size(), 0) {
  for (std::size_t link = 0; link < place_.size(); ++link)
    first_[link + 1] = first_[link] + static_cast<DependencyId>(count_of(static_cast<LinkId>(link)));
  for (NodeId node = 0; node < topology.nodes(); ++node) {
    DependencyId place = 0;
    for (const LinkId link : topology.links_out(node)) place_[at(link)] = place++;
  }
}

AcyclicLayer::AcyclicLayer(const Dependencies& dependencies)
    : dependencies_(dependencies),
      state_(dependencies.size(), State::absent),
      wanted_(dependencies.links()),
      holders_(dependencies.links()),
      order_(dependencies.links()),
      seen_(dependencies.links(), false) {
  std::iota(order_.begin(), order_.end(), 0);
}

bool AcyclicLayer::take(std::span<const LinkId> route) {
  bool known = true;
  for (std::size_t i = 1; i < route.size(); ++i) {
    const State state = state_[dependencies_.between(route[i - 1], route[i])];
    if (state == State::forbidden) return false;
    known = known && state == State::present;
  }
  if (known) return true;

  added_.clear();
  for (std::size_t i = 1; i < route.size(); ++i) {
    const Arc arc{route[i - 1], route[i]};
    if (state_[dependencies_.between(arc.held, arc.wanted)] == State::present) continue;
    if (add(arc)) {
      added_.push_back(arc);
      continue;
    }
    const bool alone = added_.empty();
    for (; !added_.empty(); added_.pop_back()) undo(added_.back());
    // Dependencies stay, so one that makes a cycle by itself always will.
    if (alone || !add(arc))
      state_[dependencies_.between(arc.held, arc.wanted)] = State::forbidden;
    else
      undo(arc);
    return false;
  }
  return true;
}

bool AcyclicLayer::add(Arc arc) {
  if (order_[at(arc.held)] > order_[at(arc.wanted)]) {
    after_.clear();
    before_.clear();
    const bool cycle = reaches(arc.wanted, arc.held);
    if (!cycle) collect_before(arc.held, order_[at(arc.wanted)]);
    for (const LinkId link : after_) seen_[at(link)] = false;
    for (const LinkId link : before_) seen_[at(link)] = false;
    if (cycle) return false;
    reorder();
  }
  wanted_[at(arc.held)].push_back(arc.wanted);
  holders_[at(arc.wanted)].push_back(arc.held);
  state_[dependencies_.between(arc.held, arc.wanted)] = State::present;
  return true;
}

/// The last one added goes first; the order stays good.
void AcyclicLayer::undo(Arc arc) {
  wanted_[at(arc.held)].pop_back();
  holders_[at(arc.wanted)].pop_back();
  state_[dependencies_.between(arc.held, arc.wanted)] = State::absent;
}

/// Collects in after_ what follows `from` up to the place of `target`.
bool AcyclicLayer::reaches(LinkId from, LinkId target) {
  stack_.assign(1, from);
  seen_[at(from)] = true;
  after_.push_back(from);
  while (!stack_.empty()) {
    const LinkId link = stack_.back();
    stack_.pop_back();
    for (const LinkId next : wanted_[at(link)]) {
      if (next == target) return true;
      if (seen_[at(next)] || order_[at(next)] > order_[at(target)]) continue;
      seen_[at(next)] = true;
      after_.push_back(next);
      stack_.push_back(next);
    }
  }
  return false;
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
