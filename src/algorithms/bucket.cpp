// Bucket: a ring reduce-scatter in one dimension after the other (Barnett et al. 1993; Jain and Sabharwal 2010; De
// Sensi et al. 2024, 2.3.4), written as the allgather that it reverses.
//
// The collective of each port begins in its own dimension and direction, and all go on to their next dimension
// together, after as many steps as the longest side takes: no link carries two messages in a step (Fig. 9).

#include <numeric>

#include "algorithms/table.h"
#include "algorithms/torus_allgather.h"

namespace colltopo {

namespace {

RingSteps bucket_ring(Rank side, Rank coordinate) {
  const auto at = [&](Rank c) { return (c % side + side) % side; };
  RingSteps ring;
  for (Rank behind = 0; behind + 1 < side; ++behind) {
    const Exchange onward{at(coordinate + 1), {at(coordinate - behind)}, {}};
    const Exchange arriving{at(coordinate - 1), {}, {at(coordinate - behind - 1)}};
    ring.push_back({onward, arriving});
  }
  return ring;
}

std::vector<std::uint32_t> along(Rank side) {
  std::vector<std::uint32_t> order(static_cast<std::size_t>(side));
  std::iota(order.begin(), order.end(), 0u);
  return order;
}

}  // namespace

Algorithm bucket_algorithm() {
  Algorithm row = torus_algorithm(
      "bucket", "rings in one dimension of a torus after the other (Jain and Sabharwal 2010)",
      DimensionOrder::one_by_one, bucket_ring, [](Rank side) { return side - 1; }, along);
  row.repeats = [](const Shape&, const AlgorithmOptions& given) { return is_plain_ring(given); };  // hamiltonian
  return row;
}

}  // namespace colltopo
