// Recursive doubling on tori with one collective per port (De Sensi et al. 2024, 2.3.3 and 5.1; Sack and Gropp 2015),
// the bandwidth-optimized version: an allgather, and what is derived from it.
//
// A ring whose side is no power of two folds: in a reduction the odd coordinates of neighbour pairs give all they have
// to the even ones first, and get their block back last. That costs two steps and up to a shard per rank of the ring
// more.

#include <algorithm>

#include "algorithms/table.h"
#include "algorithms/torus_allgather.h"

namespace colltopo {

namespace {

// Coordinates at the places that agree with `place` in the lowest `bits` bits.
std::vector<Rank> coordinates_like(const Fold& fold, Rank place, int bits) {
  const Rank period = Rank{1} << bits;
  std::vector<Rank> coordinates;
  for (Rank other = place % period; other < fold.places(); other += period) {
    const Rank coordinate = fold.coordinate_at(other);
    coordinates.push_back(coordinate);
    if (fold.paired(coordinate)) coordinates.push_back(fold.partner(coordinate));
  }
  return coordinates;
}

RingSteps doubling_ring(Rank side, Rank coordinate) {
  const Fold fold(side);
  const int doublings = log2_ceiling(fold.places());
  const bool folds = fold.pairs() > 0;
  RingSteps ring;
  if (folds) {
    ring.emplace_back();
    if (fold.folded(coordinate))
      ring.back().push_back({fold.partner(coordinate), {coordinate}, {}});
    else if (fold.paired(coordinate))
      ring.back().push_back({fold.partner(coordinate), {}, {fold.partner(coordinate)}});
  }
  for (int bit = doublings - 1; bit >= 0; --bit) {
    ring.emplace_back();
    if (fold.folded(coordinate)) continue;
    const Rank place = fold.place_of(coordinate), peer = place ^ (Rank{1} << bit);
    ring.back().push_back(
        {fold.coordinate_at(peer), coordinates_like(fold, place, bit + 1), coordinates_like(fold, peer, bit + 1)});
  }
  if (folds) {
    ring.emplace_back();
    if (!fold.paired(coordinate)) return ring;
    const Rank folded = coordinate | 1;
    std::vector<Rank> others;
    for (Rank c = 0; c < side; ++c) {
      if (c != folded) others.push_back(c);
    }
    if (coordinate == folded)
      ring.back().push_back({fold.partner(coordinate), {}, std::move(others)});
    else
      ring.back().push_back({folded, std::move(others), {}});
  }
  return ring;
}

// Places by their lowest bits first; a folded coordinate beside its partner.
std::vector<std::uint32_t> doubling_order(Rank side) {
  const Fold fold(side);
  const int doublings = log2_ceiling(fold.places()), before = fold.pairs() > 0 ? 1 : 0;
  std::vector<std::uint32_t> order;
  for (Rank coordinate = 0; coordinate < side; ++coordinate) {
    const auto place = static_cast<std::uint32_t>(fold.place_of(coordinate));
    std::uint32_t code = fold.folded(coordinate) ? 1 : 0;
    for (int bit = 0; bit < doublings; ++bit) code |= (place >> bit & 1) << (before + doublings - 1 - bit);
    order.push_back(code);
  }
  return order;
}

}  // namespace

Algorithm mirrored_algorithm() {
  return torus_algorithm(
      "mirrored", "recursive doubling on a torus, all ports by mirroring (De Sensi et al. 2024, 5.1)",
      DimensionOrder::alternating, doubling_ring, [](Rank side) { return Fold(side).steps(); }, doubling_order);
}

}  // namespace colltopo
