// Random choices that are the same on every machine: std::mt19937_64 is fixed by the standard, the distributions of the
// standard library are not.
#pragma once

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace colltopo {

class Lots {
 public:
  explicit Lots(std::uint64_t seed) : generator_(seed) {}

  /// Evenly in 0..count-1; count > 0.
  std::uint64_t below(std::uint64_t count) {
    // Draws beyond the last whole multiple of count would favour small results.
    const std::uint64_t uneven = (0 - count) % count;
    for (;;) {
      const std::uint64_t drawn = generator_();
      if (drawn >= uneven) return drawn % count;
    }
  }

  template <typename T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t left = items.size(); left > 1; --left) std::swap(items[left - 1], items[below(left)]);
  }

 private:
  std::mt19937_64 generator_;
};

}  // namespace colltopo
