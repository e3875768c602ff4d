// A non-commutative operation, and operands that look random but are known everywhere.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>

namespace mpi_test {

inline unsigned operand(int rank, std::size_t i) {
  return static_cast<unsigned>(rank) * 2654435761u + static_cast<unsigned>(i) * 40503u + 1u;
}

// Affine maps x -> a x + b modulo a prime: composing them is associative and not commutative.
struct Affine {
  std::uint32_t a, b;
};
inline constexpr std::uint64_t k_prime = 2147483647;

inline Affine after(Affine first, Affine second) {
  return {static_cast<std::uint32_t>(std::uint64_t{first.a} * second.a % k_prime),
          static_cast<std::uint32_t>((std::uint64_t{second.a} * first.b + second.b) % k_prime)};
}

inline void compose(void* in, void* inout, int* elements, MPI_Datatype*) {
  for (int i = 0; i < *elements; ++i) {
    auto* const second = static_cast<Affine*>(inout) + i;
    *second = after(static_cast<Affine*>(in)[i], *second);
  }
}

inline Affine map_of(int rank, std::size_t i) {
  return {static_cast<std::uint32_t>(operand(rank, i) % (k_prime - 2) + 1),
          static_cast<std::uint32_t>(operand(rank, i + 7) % k_prime)};
}

}  // namespace mpi_test
