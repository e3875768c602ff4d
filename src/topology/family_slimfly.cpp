// Slim Fly (Besta and Hoefler 2014): the graphs of McKay, Miller and Siran, of diameter 2 and nearly as large as such
// can be, over the finite field of q elements. Routers are the hosts: direct connect.
#include <algorithm>

#include <fmt/format.h>

#include "topology/families.h"

namespace colltopo {

namespace {

/// GF(p^n). An element is a polynomial over GF(p) written as a number in base p; 0 and 1 are the numbers 0 and 1.
class FiniteField {
 public:
  FiniteField(int prime, int exponent) : prime_(prime), exponent_(exponent), size_(1) {
    for (int i = 0; i < exponent; ++i) size_ *= prime;
    // Modulo a primitive polynomial x^n + tail, and only then, the powers of x run through all elements but 0.
    for (int tail = 1; !powers_of_x(tail);) ++tail;
    logarithms_.resize(static_cast<std::size_t>(size_));
    for (int power = 0; power < size_ - 1; ++power) logarithms_[static_cast<std::size_t>(x_to_the(power))] = power;
  }

  int size() const { return size_; }
  /// Of a primitive element.
  int x_to_the(int power) const { return powers_[static_cast<std::size_t>(power % (size_ - 1))]; }
  int times(int a, int b) const { return a == 0 || b == 0 ? 0 : x_to_the(logarithm(a) + logarithm(b)); }
  int plus(int a, int b) const { return digit_by_digit(a, b, 1); }

 private:
  int logarithm(int element) const { return logarithms_[static_cast<std::size_t>(element)]; }
  /// a + factor * b
  int digit_by_digit(int a, int b, int factor) const {
    int sum = 0;
    for (int place = 1; place < size_; place *= prime_)
      sum += (a / place + factor * (b / place % prime_)) % prime_ * place;
    return sum;
  }
  bool powers_of_x(int tail) {
    powers_.assign(1, 1);
    for (;;) {
      const int shifted = powers_.back() % (size_ / prime_) * prime_;  // without what reaches x^n = -tail
      const int overflow = powers_.back() / (size_ / prime_);
      const int next = digit_by_digit(shifted, tail, (prime_ - overflow) % prime_);
      if (next == 1) return static_cast<int>(powers_.size()) == size_ - 1;
      if (next == 0 || static_cast<int>(powers_.size()) >= size_) return false;
      powers_.push_back(next);
    }
  }

  int prime_, exponent_, size_;
  std::vector<int> powers_;      // [power] of x
  std::vector<int> logarithms_;  // [element]
};

struct PrimePower {
  int prime = 0, exponent = 0;  // 0, 0: it is none
};
PrimePower prime_power(int number) {
  int prime = 2;
  while (number % prime != 0) ++prime;
  PrimePower result{prime, 0};
  for (; number % prime == 0; number /= prime) ++result.exponent;
  return number == 1 ? result : PrimePower{};
}

/// Powers of the primitive element whose differences join rows of the first half (X) and of the second (X').
struct Generators {
  std::vector<int> first, second;
};
Generators generators_of(const FiniteField& field) {
  const int q = field.size();
  Generators generators;
  if (q % 4 != 3) {  // q = 4w + 1, 4w: even powers and odd powers
    const int count = q % 4 == 1 ? (q - 1) / 2 : q / 2;
    for (int i = 0; i < count; ++i) {
      generators.first.push_back(field.x_to_the(2 * i));
      generators.second.push_back(field.x_to_the(2 * i + 1));
    }
    return generators;
  }
  const int w = (q + 1) / 4;  // q = 4w - 1: -1 is an odd power, so each set is closed under it only as this mixture
  for (int i = 0; i < w; ++i) {
    generators.first.push_back(field.x_to_the(2 * i));
    generators.first.push_back(field.x_to_the(2 * w - 1 + 2 * i));
    generators.second.push_back(field.x_to_the(2 * i + 1));
    generators.second.push_back(field.x_to_the(2 * w + 2 * i));
  }
  return generators;
}

}  // namespace

// Hosts (0, x, y) and (1, m, c), x, y, m, c elements of the field. (0, x, y) is joined to (0, x, y') where y - y' is in
// X, (1, m, c) to (1, m, c') where c - c' is in X', and (0, x, y) to (1, m, c) where y = m*x + c.
Topology slimfly(const FamilySpec& spec) {
  expect_parameters(spec, 1, "slimfly:Q");
  const int q = number(spec, spec.parameters[0], "Q", 3, 211);
  const PrimePower power = prime_power(q);
  if (power.prime == 0 || q % 4 == 2)
    refuse(spec, fmt::format("Q {}", q), "a power of a prime, such as 3 4 5 7 8 9 11 13 16 17 19 23 25 27");
  const FiniteField field(power.prime, power.exponent);
  const Generators generators = generators_of(field);
  const auto host = [&](int half, int row, int place) { return (half * q + row) * q + place; };

  TopologyBuilder builder(spec.text, 2 * q * q);
  for (int half = 0; half < 2; ++half) {
    for (int row = 0; row < q; ++row) {
      for (int place = 0; place < q; ++place) {
        for (const int difference : half == 0 ? generators.first : generators.second) {
          const int other = field.plus(place, difference);
          if (place < other) builder.cable(host(half, row, place), host(half, row, other));
        }
      }
    }
  }
  for (int x = 0; x < q; ++x)
    for (int m = 0; m < q; ++m)
      for (int c = 0; c < q; ++c) builder.cable(host(0, x, field.plus(field.times(m, x), c)), host(1, m, c));
  return std::move(builder).build();
}

}  // namespace colltopo
