// Bandwidths as whole numbers.
#include "forest/units.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

#include <fmt/format.h>

#include "colltopo/error.h"

namespace colltopo {

namespace {

constexpr double k_least_whole = 1e6, k_most_whole_units = 1e18;  // bandwidths as whole numbers

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
  const double slowest = topology.slowest_bandwidth();
  double per_byte = 1;
  while (slowest * per_byte < k_least_whole) per_byte *= 10;

  Bandwidths bandwidths;
  Capacity common = 0;
  for (const Link& link : topology.links()) {
    const double rounded = std::round(link.bandwidth * per_byte);
    if (rounded > k_most_whole_units)
      throw Error(fmt::format(
          "{}: links of {} and of {} bytes per second; trees need bandwidths less than {:.0e} apart and "
          "below {:.0e}",
          topology.name(), slowest, link.bandwidth, k_most_whole_units / k_least_whole, k_most_whole_units));
    bandwidths.of_link.push_back(static_cast<Capacity>(rounded));
    common = std::gcd(common, bandwidths.of_link.back());
  }
  assert(common > 0);  // hosts that reach each other have links, none of which rounds to 0
  Wide sum = 0;
  for (Capacity& bandwidth : bandwidths.of_link) sum += bandwidth /= common;
  if (sum > std::numeric_limits<Capacity>::max())
    throw Error(
        fmt::format("{}: its links have {:.3g} times {} bytes per second together; trees need sums below {:.3g}",
                    topology.name(), static_cast<double>(sum), static_cast<double>(common) / per_byte,
                    static_cast<double>(std::numeric_limits<Capacity>::max())));
  bandwidths.unit = static_cast<double>(common) / per_byte;
  return bandwidths;
}

void expect_root(const Topology& topology, NodeId root) {
  if (root < 0 || root >= topology.hosts())
    throw Error(fmt::format("root {}; expected a host of {}, 0..{}", root, topology.name(), topology.hosts() - 1));
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
