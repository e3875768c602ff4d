#include "traffic.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace colltopo::bench {

namespace {

std::uint64_t any(int from, int to) {
  std::uint64_t x = static_cast<std::uint64_t>(from) * 0x9E3779B97F4A7C15U + static_cast<std::uint64_t>(to) + 1;
  x ^= x >> 30;
  x *= 0xBF58476D1CE4E5B9U;
  x ^= x >> 27;
  x *= 0x94D049BB133111EBU;
  return x ^ (x >> 31);
}

int ranks_of_a_group(int ranks) {
  int size = 1;
  while (ranks % size != 0 || size < ranks / size) ++size;
  return size;
}

/// The first ranks have one more where they do not divide.
std::size_t planes_of(int planes, int ranks, int rank) {
  return static_cast<std::size_t>(planes / ranks + (rank < planes % ranks ? 1 : 0));
}

/// Of a 3D transform with so many planes along both axes that ranks share.
std::size_t slab_elements(int planes, std::size_t mean, int ranks, int from, int to) {
  const auto all = static_cast<std::size_t>(planes), shares = static_cast<std::size_t>(ranks);
  return mean * planes_of(planes, ranks, from) * planes_of(planes, ranks, to) * shares / all * shares / all;
}

/// Three sides, descending, whose product is the ranks.
std::array<int, 3> grid_of(int ranks) {
  std::array<int, 3> best = {ranks, 1, 1};
  for (int c = 1; c * c * c <= ranks; ++c) {
    for (int b = c; ranks % c == 0 && b * b <= ranks / c; ++b)
      if (ranks / c % b == 0) best = {ranks / c / b, b, c};
  }
  return best;
}

std::size_t halo_elements(std::size_t mean, int ranks, int from, int to) {
  const std::array<int, 3> sides = grid_of(ranks);
  const auto place = [&](int rank) {
    return std::array<int, 3>{rank / (sides[1] * sides[2]), rank / sides[2] % sides[1], rank % sides[2]};
  };
  const std::array<int, 3> here = place(from), there = place(to);
  std::size_t parts = 0;
  for (int way = 0; way < 27; ++way) {
    const std::array<int, 3> offset = {way / 9 - 1, way / 3 % 3 - 1, way % 3 - 1};
    bool meets = way != 13;
    int moved = 0;
    for (std::size_t side = 0; side < 3; ++side) {
      meets = meets && (here[side] + offset[side] + sides[side]) % sides[side] == there[side];
      moved += offset[side] != 0 ? 1 : 0;
    }
    if (meets) parts += moved == 1 ? 16 : moved == 2 ? 4 : 1;
  }
  constexpr std::size_t k_parts = 6 * 16 + 12 * 4 + 8;
  return mean * static_cast<std::size_t>(ranks) * parts / k_parts;
}

}  // namespace

std::size_t elements_between(Spread spread, std::size_t mean, int ranks, int from, int to) {
  const std::uint64_t drawn = any(from, to);
  switch (spread) {
    case Spread::uneven:
      return mean / 2 + drawn % (mean + 1);
    case Spread::skewed: {
      double harmonic = 0;
      for (int k = 1; k <= ranks; ++k) harmonic += 1.0 / k;
      const auto place = static_cast<double>(1 + drawn % static_cast<std::uint64_t>(ranks));
      return std::max<std::size_t>(1, static_cast<std::size_t>(static_cast<double>(mean) * ranks / harmonic / place));
    }
    case Spread::huge:
      return from == ranks - 1 && to == 0 ? 1000 * mean : mean;
    case Spread::sparse:
      return drawn % 8 == 0 || from == to ? 8 * mean : 0;
    case Spread::hot:
      return from == 0 ? 8 * mean : mean;
    case Spread::diagonal: {
      const int size = ranks_of_a_group(ranks);
      return from / size == to / size ? mean * static_cast<std::size_t>(ranks / size) : 0;
    }
    case Spread::slabs:
      return slab_elements(ranks + ranks / 2, mean, ranks, from, to);
    case Spread::near:
      return slab_elements(6 * ranks - 2, mean, ranks, from, to);
    case Spread::halo:
      return halo_elements(mean, ranks, from, to);
    case Spread::equal:
      break;
  }
  return mean;
}

namespace {

// Whatever the mean is, a block that may have bytes belongs to an edge.
bool has_edge(Spread spread, int ranks, int from, int to) {
  return elements_between(spread, std::size_t{1} << 16, ranks, from, to) > 0;
}

std::vector<int> ranks_where(int ranks, const auto& condition) {
  std::vector<int> found;
  for (int rank = 0; rank < ranks; ++rank)
    if (condition(rank)) found.push_back(rank);
  return found;
}

}  // namespace

std::vector<int> sources_of(Spread spread, int ranks, int rank) {
  return ranks_where(ranks, [&](int from) { return has_edge(spread, ranks, from, rank); });
}

std::vector<int> destinations_of(Spread spread, int ranks, int rank) {
  return ranks_where(ranks, [&](int to) { return has_edge(spread, ranks, rank, to); });
}

void Blocks::add(std::size_t count) {
  counts.push_back(static_cast<int>(count));
  places.push_back(static_cast<int>(elements));
  elements += count;
}

std::size_t Blocks::block_of(std::size_t element) const {
  // The last one that begins there or before: empty blocks begin where the next one does.
  const auto after = std::upper_bound(places.begin(), places.end(), static_cast<int>(element));
  return static_cast<std::size_t>(after - places.begin()) - 1;
}

}  // namespace colltopo::bench
