// Everything random of the conformance test is a hash of what it is about: of the seed, an operation's number, ranks, a
// name. So every rank knows what all others do, and an operation is the same whether those before it ran or not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace conformance {

/// Spreads all bits of `value` (the finisher of splitmix64, Steele, Lea, Flood 2014).
constexpr std::uint64_t spread(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31);
}

constexpr std::uint64_t hash_of(std::uint64_t key) { return spread(key + 0x9e3779b97f4a7c15U); }

/// Of several numbers, in their order.
template <typename... Numbers>
constexpr std::uint64_t hash_of(std::uint64_t key, std::uint64_t first, Numbers... others) {
  return hash_of(spread(hash_of(key) + 0x632be59bd9b4e019U * (first + 1)), static_cast<std::uint64_t>(others)...);
}

constexpr std::uint64_t hash_of_name(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char letter : name) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3U;
  return hash;
}

/// A sequence of random numbers that a key stands for.
class Dice {
 public:
  explicit Dice(std::uint64_t key) : key_(key) {}
  std::uint64_t next() { return hash_of(key_, ++thrown_); }
  /// 0 to `end` - 1.
  int below(int end) { return static_cast<int>(next() % static_cast<std::uint64_t>(end)); }
  int between(int least, int most) { return least + below(most - least + 1); }
  bool one_in(int times) { return below(times) == 0; }
  template <typename Value>
  const Value& one_of(const std::vector<Value>& values) {
    return values[static_cast<std::size_t>(below(static_cast<int>(values.size())))];
  }
  template <typename Value>
  void shuffle(std::vector<Value>& values) {
    for (std::size_t i = values.size(); i > 1; --i) {
      std::swap(values[i - 1], values[static_cast<std::size_t>(below(static_cast<int>(i)))]);
    }
  }

 private:
  std::uint64_t key_;
  std::uint64_t thrown_ = 0;
};

}  // namespace conformance
