// Slim Fly (Besta and Hoefler 2014): the graphs of McKay, Miller and Siran, of diameter 2 and nearly as large as such
// can be, over the finite field of q elements. Routers are the hosts: direct connect.
#include <fmt/format.h>

#include "topology/families.h"
#include "topology/finite_field.h"

namespace colltopo {

namespace {

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
  const FiniteField field(power);
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
