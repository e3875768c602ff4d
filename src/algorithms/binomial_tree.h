// The binomial tree over places 0 .. count-1, place 0 being its root. A place with its lowest set bit removed is its
// parent's; larger subtrees are served first. A place's subtree is a stretch of places that it begins.
#pragma once

#include <algorithm>

#include "colltopo/shape.h"

namespace colltopo {

class BinomialTree {
 public:
  BinomialTree(Rank count, Rank place) : count_(count), place_(place) {
    for (Rank reach = 1; reach < count_; reach *= 2) ++steps_;
  }

  Rank place() const { return place_; }
  /// Places in the subtree of a place.
  Rank subtree(Rank place) const { return place == 0 ? count_ : std::min(place & -place, count_ - place); }
  Step steps() const { return steps_; }
  static Step steps_of(Rank count) { return BinomialTree(count, 0).steps(); }

  /// Calls receive(step, parent) once unless this is the root, then send(step, child) for every child.
  template <typename Receive, typename Send>
  void walk(Receive receive, Send send) const {
    for (Step step = 1; step <= steps_; ++step) {
      const Rank reach = Rank{1} << (steps_ - step);
      if (place_ % (2 * reach) == reach) receive(step, place_ - reach);
      if (place_ % (2 * reach) == 0 && place_ + reach < count_) send(step, place_ + reach);
    }
  }

 private:
  Rank count_, place_;
  Step steps_ = 0;
};

}  // namespace colltopo
