// Finite fields of few elements, by tables.
#pragma once

#include <vector>

namespace colltopo {

struct PrimePower {
  int prime = 0, exponent = 0;  // 0, 0: it is none
};
/// Of a number from 2.
PrimePower prime_power(int number);

/// GF(p^n). An element is a polynomial over GF(p) written as a number in base p; 0 and 1 are the numbers 0 and 1, and
/// p^i for i < n is a basis.
class FiniteField {
 public:
  explicit FiniteField(PrimePower size);

  int size() const { return size_; }
  int characteristic() const { return prime_; }
  /// Of a primitive element.
  int x_to_the(int power) const { return powers_[static_cast<std::size_t>(power % (size_ - 1))]; }
  int times(int a, int b) const { return a == 0 || b == 0 ? 0 : x_to_the(logarithm(a) + logarithm(b)); }
  int plus(int a, int b) const { return digit_by_digit(a, b, 1); }
  int minus(int a, int b) const { return digit_by_digit(a, b, prime_ - 1); }

 private:
  int logarithm(int element) const { return logarithms_[static_cast<std::size_t>(element)]; }
  /// a + factor * b
  int digit_by_digit(int a, int b, int factor) const;
  /// Whether the powers of x modulo x^n + tail are all elements but 0; then powers_ are they.
  bool powers_of_x(int tail);

  int prime_, size_;
  std::vector<int> powers_;      // [power] of x
  std::vector<int> logarithms_;  // [element]
};

}  // namespace colltopo
