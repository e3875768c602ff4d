// Swing, bandwidth-optimal (De Sensi et al. 2024, 3.1.1, 3.2 and 4): an allgather, and what is derived from it.
//
// On an even ring, step s of a reduction pairs every even coordinate with the odd one rho(s) further, rho(s) being the
// sum of (-2)^i for i = 0..s; the allgather takes the steps backwards and hands over what the peer lacks. A rank so
// receives a block in the earliest step that can bring it: in the reduction it sends "only in the last step" what it
// could send twice, the paper's rule for sides that are no powers of two.
//
// On an odd ring the last coordinate takes no part and exchanges single blocks with all others, about half of those
// that are left in each reduction step (Fig. 3).

#include <algorithm>
#include <utility>

#include "algorithms/table.h"
#include "algorithms/torus_allgather.h"

namespace colltopo {

namespace {

// What coordinates of an even ring hold after so many steps of the allgather.
class Held {
 public:
  explicit Held(Rank side) : side_(side), steps_(log2_ceiling(side)), seen_(static_cast<std::size_t>(side), 0) {}

  int steps() const { return steps_; }
  Rank peer(Rank coordinate, int step) const { return swing_peer(side_, coordinate, steps_ - 1 - step); }

  /// Coordinates held by `coordinate` before `step`, and not by its peer in that step; increasing.
  std::vector<Rank> offered(Rank coordinate, int step) {
    mark(peer(coordinate, step), step, k_theirs);
    mark(coordinate, step, k_ours);
    std::vector<Rank> offered;
    for (Rank c = 0; c < side_; ++c) {
      if (seen_[static_cast<std::size_t>(c)] == k_ours) offered.push_back(c);
      seen_[static_cast<std::size_t>(c)] = 0;
    }
    return offered;
  }

 private:
  static constexpr unsigned char k_ours = 1, k_theirs = 2;

  void mark(Rank coordinate, int steps, unsigned char bit) {
    seen_[static_cast<std::size_t>(coordinate)] |= bit;
    for (int step = 0; step < steps; ++step) mark(peer(coordinate, step), step, bit);
  }

  Rank side_;
  int steps_;
  std::vector<unsigned char> seen_;
};

// Others that the left-over coordinate meets in reduction steps before `step`: half of those that remain, rounded up,
// in every step, and all in the last.
Rank met_before(Rank others, int steps, int step) {
  Rank met = 0;
  for (int s = 0; s < step; ++s) met = s == steps - 1 ? others : met + (others - met + 1) / 2;
  return met;
}

RingSteps made_swing_ring(Rank side, Rank coordinate) {
  const Rank even = side - side % 2;
  Held held(even);
  RingSteps ring(static_cast<std::size_t>(held.steps()));
  for (int step = 0; step < held.steps(); ++step) {
    auto& exchanges = ring[static_cast<std::size_t>(step)];
    if (coordinate < even) {
      const Rank peer = held.peer(coordinate, step);
      exchanges.push_back({peer, held.offered(coordinate, step), held.offered(peer, step)});
    }
    if (side == even) continue;
    const int reduction_step = held.steps() - 1 - step;
    const Rank first = met_before(even, held.steps(), reduction_step);
    const Rank last = met_before(even, held.steps(), reduction_step + 1);
    if (coordinate == even) {
      for (Rank other = first; other < last; ++other) exchanges.push_back({other, {even}, {other}});
    } else if (coordinate >= first && coordinate < last) {
      exchanges.push_back({even, {coordinate}, {even}});
    }
  }
  return ring;
}

// Made once for programs of one place that follow each other: a bcast from every root asks for the same.
RingSteps swing_ring(Rank side, Rank coordinate) {
  struct Made {
    Rank side = 0, coordinate = 0;
    RingSteps ring;
  };
  thread_local Made last;
  if (last.side != side || last.coordinate != coordinate) last = {side, coordinate, made_swing_ring(side, coordinate)};
  return last.ring;
}

// What coordinate 0 gathers, in the order of the tree of pairs: with a power of two the sets that are handed over in a
// reduction step are the branches of that tree, whoever hands them over (3.1.1). The left-over coordinate comes last.
class Branches {
 public:
  explicit Branches(Rank side) : even_(side - side % 2), held_(even_), codes_(static_cast<std::size_t>(side), k_none) {
    if (even_ > 0) descend(0, held_.steps(), 0);
  }

  std::vector<std::uint32_t> codes() && { return std::move(codes_); }

 private:
  static constexpr std::uint32_t k_none = ~std::uint32_t{0};

  void descend(Rank coordinate, int steps, std::uint32_t code) {
    if (steps == 0) {
      std::uint32_t& known = codes_[static_cast<std::size_t>(coordinate)];
      known = std::min(known, code);
      return;
    }
    descend(coordinate, steps - 1, code);
    descend(held_.peer(coordinate, steps - 1), steps - 1, code | std::uint32_t{1} << (steps - 1));
  }

  Rank even_;
  Held held_;
  std::vector<std::uint32_t> codes_;
};

}  // namespace

Algorithm swing_algorithm() {
  return torus_algorithm(
      "swing", "Swing on a torus of any sides, bandwidth-optimal (De Sensi et al. 2024)", DimensionOrder::alternating,
      swing_ring, [](Rank side) { return log2_ceiling(side - side % 2); },
      [](Rank side) { return Branches(side).codes(); });
}

}  // namespace colltopo
