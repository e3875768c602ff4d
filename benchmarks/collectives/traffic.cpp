#include "traffic.h"

#include <algorithm>
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
    case Spread::equal:
      break;
  }
  return mean;
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
