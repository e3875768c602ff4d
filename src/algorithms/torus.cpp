#include "algorithms/torus.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <limits>

namespace colltopo {

namespace {

std::string sides_of(const std::vector<int>& dimensions) { return fmt::format("{}", fmt::join(dimensions, "x")); }

}  // namespace

Torus::Torus(const Shape& shape, const AlgorithmOptions& options) {
  std::vector<int> all = options.dimensions;
  if (all.empty()) all.push_back(shape.ranks);
  Rank stride = 1;
  for (std::size_t i = all.size(); i-- > 0; stride *= all[i]) {
    if (all[i] == 1) continue;
    sides_.insert(sides_.begin(), all[i]);
    strides_.insert(strides_.begin(), stride);
  }
}

std::string torus_refusal(const Shape& shape, const AlgorithmOptions& options) {
  if (options.dimensions.empty()) return {};
  std::int64_t product = 1;
  for (const int side : options.dimensions) {
    if (side < 1) return fmt::format("side {} of dimensions {} is not at least 1", side, sides_of(options.dimensions));
    if (product <= std::numeric_limits<Rank>::max()) product *= side;
  }
  if (product == shape.ranks) return {};
  return fmt::format("dimensions {} are a torus of {} ranks, not of {}", sides_of(options.dimensions), product,
                     shape.ranks);
}

std::string torus_description(const Shape& shape, const AlgorithmOptions& options) {
  const std::vector<int> ring = {shape.ranks};
  return fmt::format("dimensions={} ports={}", sides_of(options.dimensions.empty() ? ring : options.dimensions),
                     Torus(shape, options).ports(all_ports(options)));
}

Chunk chunks_for_ports(const Shape& shape, const AlgorithmOptions& options) {
  return Torus(shape, options).ports(all_ports(options));
}

Option multiport_option() {
  return {.name = "multiport",
          .least = 0,
          .most = 1,
          .about = "1: a collective on every port at once; 0: on one",
          .otherwise = "1 on a torus"};
}

bool all_ports(const AlgorithmOptions& options) { return options.values.value_or("multiport", 1) != 0; }

bool is_plain_ring(const AlgorithmOptions& given) {
  return given.dimensions.empty() && given.values.value_or("multiport", 0) == 0;
}

std::vector<AlgorithmOptions> variants_by_ports(const Shape&, const AlgorithmOptions& given) {
  if (given.values.find("multiport")) return {given};
  std::vector<AlgorithmOptions> all;
  for (const int multiport : given.dimensions.empty() ? std::vector{0} : std::vector{1, 0}) {
    all.push_back(given);
    all.back().values.set("multiport", multiport);
  }
  return all;
}

Rank swing_peer(Rank side, Rank coordinate, int step) {
  const std::int64_t rho = (1 - (step % 2 == 0 ? -2 : 2) * (std::int64_t{1} << step)) / 3;
  const std::int64_t peer = (coordinate + (coordinate % 2 == 0 ? rho : -rho)) % side;
  return static_cast<Rank>(peer < 0 ? peer + side : peer);
}

int log2_ceiling(Rank value) {
  int log = 0;
  while ((std::int64_t{1} << log) < value) ++log;
  return log;
}

Fold::Fold(Rank side) {
  while (places_ <= side / 2) places_ *= 2;
  pairs_ = side - places_;
}

int Fold::steps() const { return log2_ceiling(places_) + (pairs_ > 0 ? 2 : 0); }

std::vector<Turn> alternating_turns(const std::vector<int>& steps, int first) {
  const int dimensions = static_cast<int>(steps.size());
  const int longest = steps.empty() ? 0 : *std::max_element(steps.begin(), steps.end());
  std::vector<Turn> turns;
  for (int round = 0; round < longest; ++round) {
    for (int i = 0; i < dimensions; ++i) {
      const int dimension = (first + i) % dimensions;
      if (round >= steps[static_cast<std::size_t>(dimension)]) continue;
      turns.push_back({static_cast<Step>(turns.size()) + 1, dimension, round});
    }
  }
  return turns;
}

}  // namespace colltopo
