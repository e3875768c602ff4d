#include "topology/finite_field.h"

namespace colltopo {

PrimePower prime_power(int number) {
  int prime = 2;
  while (number % prime != 0) ++prime;
  PrimePower result{prime, 0};
  for (; number % prime == 0; number /= prime) ++result.exponent;
  return number == 1 ? result : PrimePower{};
}

FiniteField::FiniteField(PrimePower size) : prime_(size.prime), size_(1) {
  for (int i = 0; i < size.exponent; ++i) size_ *= prime_;
  // Modulo a primitive polynomial x^n + tail, and only then, the powers of x run through all elements but 0.
  for (int tail = 1; !powers_of_x(tail);) ++tail;
  logarithms_.resize(static_cast<std::size_t>(size_));
  for (int power = 0; power < size_ - 1; ++power) logarithms_[static_cast<std::size_t>(x_to_the(power))] = power;
}

int FiniteField::digit_by_digit(int a, int b, int factor) const {
  int sum = 0;
  for (int place = 1; place < size_; place *= prime_)
    sum += (a / place + factor * (b / place % prime_)) % prime_ * place;
  return sum;
}

bool FiniteField::powers_of_x(int tail) {
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

}  // namespace colltopo
