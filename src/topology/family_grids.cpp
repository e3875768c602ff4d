// Families whose hosts are the points of a grid.
#include "topology/families.h"

namespace colltopo {

namespace {

// Neighbours along every side; a side of 2 has one cable, not one each way round.
Topology grid(const FamilySpec& spec, const std::vector<int>& sides, bool wraps) {
  const std::int64_t points = points_of(spec, sides);
  TopologyBuilder builder(spec.text, points);
  for (NodeId host = 0; host < points; ++host) {
    std::int64_t stride = points;
    for (const int side : sides) {
      stride /= side;
      const auto coordinate = static_cast<int>(host / stride % side);
      if (coordinate + 1 < side)
        builder.cable(host, static_cast<NodeId>(host + stride));
      else if (wraps && side > 2)
        builder.cable(host, static_cast<NodeId>(host - stride * (side - 1)));
    }
  }
  builder.grid(sides, wraps);
  return std::move(builder).build();
}

}  // namespace

Topology ring(const FamilySpec& spec) {
  expect_parameters(spec, 1, "ring:HOSTS");
  return grid(spec, {number(spec, spec.parameters[0], "number of hosts", 2, k_most_hosts)}, true);
}

Topology mesh(const FamilySpec& spec) {
  expect_parameters(spec, 1, "mesh:AxBx...");
  return grid(spec, sides_in(spec, spec.parameters[0]), false);
}

Topology torus(const FamilySpec& spec) {
  expect_parameters(spec, 1, "torus:AxBx...");
  return grid(spec, sides_in(spec, spec.parameters[0]), true);
}

Topology hypercube(const FamilySpec& spec) {
  expect_parameters(spec, 1, "hypercube:DIMENSIONS");
  const int dimensions = number(spec, spec.parameters[0], "number of dimensions", 1, 20);
  return grid(spec, std::vector<int>(static_cast<std::size_t>(dimensions), 2), true);
}

// Esfahanian, Ni and Sagan 1991, "The Twisted N-Cube": a hypercube in which two parallel cables of one square, 0-1 and
// 2-3, are exchanged for its diagonals 0-3 and 1-2. The degree stays, the diameter becomes one less.
Topology twisted_hypercube(const FamilySpec& spec) {
  expect_parameters(spec, 1, "twisted-hypercube:DIMENSIONS");
  const int dimensions = number(spec, spec.parameters[0], "number of dimensions", 3, 20);
  const NodeId hosts = 1 << dimensions;
  TopologyBuilder builder(spec.text, hosts);
  for (NodeId host = 0; host < hosts; ++host) {
    for (int bit = 0; bit < dimensions; ++bit) {
      NodeId neighbour = host ^ (1 << bit);
      if (bit == 0 && host < 4) neighbour ^= 2;
      if (host < neighbour) builder.cable(host, neighbour);
    }
  }
  builder.arrange(std::vector<int>(static_cast<std::size_t>(dimensions), 2));
  return std::move(builder).build();
}

// Ahn et al. 2009, with one host on every switch (De Sensi et al., 5.4.2): every host is joined to all others of its
// row, of its column and so on.
Topology hyperx(const FamilySpec& spec) {
  expect_parameters(spec, 1, "hyperx:AxBx...");
  const std::vector<int> sides = sides_in(spec, spec.parameters[0]);
  const std::int64_t points = points_of(spec, sides);
  TopologyBuilder builder(spec.text, points);
  for (NodeId host = 0; host < points; ++host) {
    std::int64_t stride = points;
    for (const int side : sides) {
      stride /= side;
      const auto coordinate = static_cast<int>(host / stride % side);
      for (int other = coordinate + 1; other < side; ++other)
        builder.cable(host, static_cast<NodeId>(host + stride * (other - coordinate)));
    }
  }
  builder.arrange(sides);
  return std::move(builder).build();
}

}  // namespace colltopo
