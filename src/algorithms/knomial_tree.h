// The k-nomial tree over places 0 .. count-1, place 0 being its root. A place with its lowest digit that is not 0, in
// base k, made 0 is its parent's; larger subtrees are served first, those of one digit at once. A place's subtree is a
// stretch of places that it begins.
#pragma once

#include <algorithm>
#include <cstdint>

#include "colltopo/shape.h"

namespace colltopo {

class KnomialTree {
 public:
  KnomialTree(Rank count, Rank place, int radix) : count_(count), place_(place), radix_(radix) {
    for (std::int64_t reach = 1; reach < count_; reach *= radix_) ++steps_;
  }

  Rank place() const { return place_; }
  /// Places in the subtree of a place.
  Rank subtree(Rank place) const {
    std::int64_t unit = 1;
    while (unit < count_ && place % (unit * radix_) == 0) unit *= radix_;
    return static_cast<Rank>(std::min<std::int64_t>(unit, count_ - place));
  }
  Step steps() const { return steps_; }

  /// Calls receive(step, parent) once unless this is the root, then send(step, child) for every child.
  template <typename Receive, typename Send>
  void walk(Receive receive, Send send) const {
    std::int64_t unit = 1;
    for (Step step = 1; step < steps_; ++step) unit *= radix_;
    for (Step step = 1; step <= steps_; ++step, unit /= radix_) {
      const std::int64_t above = place_ % (unit * radix_);
      if (above % unit != 0) continue;
      if (above != 0) {
        receive(step, static_cast<Rank>(place_ - above));
        continue;
      }
      for (std::int64_t child = place_ + unit; child < std::min<std::int64_t>(count_, place_ + unit * radix_);
           child += unit)
        send(step, static_cast<Rank>(child));
    }
  }

 private:
  Rank count_, place_;
  int radix_;
  Step steps_ = 0;
};

}  // namespace colltopo
