// Bandwidths as whole numbers.
#include "forest/units.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

#include <fmt/format.h>

#include "colltopo/error.h"

namespace colltopo {

namespace {

Wide common_divisor(Wide a, Wide b) {
  while (b != 0) {
    const Wide rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

}  // namespace

Ratio ratio_of(const std::string& name_for_errors, Wide numerator, Wide denominator) {
  const Wide divisor = common_divisor(numerator, denominator);
  numerator /= divisor;
  denominator /= divisor;
  constexpr Wide k_most = std::numeric_limits<std::int64_t>::max();
  if (numerator > k_most || denominator > k_most)
    throw Error(
        fmt::format("{}: the ratios of its bandwidths need more than 64 bits; round bandwidths to multiples of "
                    "a larger unit, such as 1 Gb/s",
                    name_for_errors));
  return {static_cast<std::int64_t>(numerator), static_cast<std::int64_t>(denominator)};
}

bool is_less(const Ratio& a, const Ratio& b) {
  return Wide{a.numerator} * b.denominator < Wide{b.numerator} * a.denominator;
}

Bandwidths whole_bandwidths(const Topology& topology) {
  if (topology.hosts() < 2)
    throw Error(fmt::format("{}: {} host; trees need at least 2", topology.name(), topology.hosts()));
  expect_connected(topology);
  Bandwidths bandwidths;
  bandwidths.unit = 0;
  constexpr double k_most = 1e18;  // bytes per second
  for (const Link& link : topology.links()) {
    const double rounded = std::round(link.bandwidth);
    if (rounded < 1 || rounded > k_most)
      throw Error(fmt::format("{}: a link of {} bytes per second; trees need 1 to {}", topology.name(), link.bandwidth,
                              k_most));
    bandwidths.of_link.push_back(static_cast<Capacity>(rounded));
    bandwidths.unit = std::gcd(bandwidths.unit, bandwidths.of_link.back());
  }
  for (Capacity& bandwidth : bandwidths.of_link) bandwidth /= bandwidths.unit;
  return bandwidths;
}

std::vector<CapacityEdge> joined_edges(const Topology& topology, const std::vector<Capacity>& of_link) {
  std::vector<CapacityEdge> edges;
  for (std::size_t link = 0; link < of_link.size(); ++link)
    if (of_link[link] > 0) edges.push_back({topology.links()[link].tail, topology.links()[link].head, of_link[link]});
  std::ranges::stable_sort(edges, {}, [](const CapacityEdge& edge) { return std::tuple(edge.tail, edge.head); });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    if (kept > 0 && edges[kept - 1].tail == edges[i].tail && edges[kept - 1].head == edges[i].head)
      edges[kept - 1].capacity += edges[i].capacity;
    else
      edges[kept++] = edges[i];
  }
  edges.resize(kept);
  return edges;
}

}  // namespace colltopo
