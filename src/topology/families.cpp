// The families that a spec string can name, in one table.
#include "topology/families.h"

#include <array>
#include <charconv>

#include <fmt/format.h>

#include "colltopo/error.h"

namespace colltopo {

namespace {

[[noreturn]] void refuse(const FamilySpec& spec, std::string_view fault, std::string_view expected) {
  throw Error(fmt::format("{}: {}; expected {}", spec.text, fault, expected));
}

int number(const FamilySpec& spec, std::string_view text, std::string_view what, int least, int most) {
  int value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || rest != end || value < least || value > most)
    refuse(spec, fmt::format("{} '{}'", what, text), fmt::format("a whole number in {}..{}", least, most));
  return value;
}

void expect_parameters(const FamilySpec& spec, std::size_t count, std::string_view expected) {
  if (spec.parameters.size() != count) refuse(spec, fmt::format("{} parameters", spec.parameters.size()), expected);
}

constexpr int k_most_hosts = 1 << 20;

// "3x4x5". Side 1 is allowed: such a dimension has no links.
std::vector<int> sides_in(const FamilySpec& spec, std::string_view expected) {
  expect_parameters(spec, 1, expected);
  std::vector<int> sides;
  std::string_view rest = spec.parameters.front();
  for (;;) {
    const std::size_t end = rest.find('x');
    sides.push_back(number(spec, rest.substr(0, end), "side", 1, k_most_hosts));
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  return sides;
}

std::int64_t points_of(const FamilySpec& spec, const std::vector<int>& sides) {
  std::int64_t points = 1;
  for (const int side : sides) {
    points *= side;
    if (points > k_most_hosts) refuse(spec, "too many hosts", fmt::format("a product of sides up to {}", k_most_hosts));
  }
  return points;
}

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

Topology ring(const FamilySpec& spec) {
  expect_parameters(spec, 1, "ring:HOSTS");
  return grid(spec, {number(spec, spec.parameters[0], "number of hosts", 2, k_most_hosts)}, true);
}

Topology mesh(const FamilySpec& spec) { return grid(spec, sides_in(spec, "mesh:AxBx..."), false); }
Topology torus(const FamilySpec& spec) { return grid(spec, sides_in(spec, "torus:AxBx..."), true); }

Topology hypercube(const FamilySpec& spec) {
  expect_parameters(spec, 1, "hypercube:DIMENSIONS");
  const int dimensions = number(spec, spec.parameters[0], "number of dimensions", 1, 20);
  return grid(spec, std::vector<int>(static_cast<std::size_t>(dimensions), 2), true);
}

Topology complete(const FamilySpec& spec) {
  expect_parameters(spec, 1, "complete:HOSTS");
  const NodeId hosts = number(spec, spec.parameters[0], "number of hosts", 2, 5000);
  TopologyBuilder builder(spec.text, hosts);
  for (NodeId a = 0; a < hosts; ++a)
    for (NodeId b = a + 1; b < hosts; ++b) builder.cable(a, b);
  return std::move(builder).build();
}

Topology bipartite(const FamilySpec& spec) {
  expect_parameters(spec, 2, "bipartite:HOSTS:HOSTS");
  const NodeId left = number(spec, spec.parameters[0], "number of hosts", 1, 2500);
  const NodeId right = number(spec, spec.parameters[1], "number of hosts", 1, 2500);
  TopologyBuilder builder(spec.text, left + right);
  for (NodeId a = 0; a < left; ++a)
    for (NodeId b = 0; b < right; ++b) builder.cable(a, left + b);
  return std::move(builder).build();
}

Topology single_switch(const FamilySpec& spec) {
  expect_parameters(spec, 1, "switch:HOSTS");
  const NodeId hosts = number(spec, spec.parameters[0], "number of hosts", 1, k_most_hosts);
  TopologyBuilder builder(spec.text, hosts, 1);
  for (NodeId host = 0; host < hosts; ++host) builder.cable(host, hosts);
  return std::move(builder).build();
}

constexpr std::array<Family, 7> k_families{{
    {"ring", "HOSTS", "hosts in a circle, each joined to the next", ring},
    {"mesh", "AxBx...", "a grid without wrap-around", mesh},
    {"torus", "AxBx...", "a grid that wraps around on every side (a side of 2 has one cable)", torus},
    {"hypercube", "DIMENSIONS", "2^DIMENSIONS hosts, joined where their numbers differ in one bit", hypercube},
    {"complete", "HOSTS", "every host joined to every other", complete},
    {"bipartite", "A:B", "each of A hosts joined to each of B more", bipartite},
    {"switch", "HOSTS", "hosts on one switch", single_switch},
}};

}  // namespace

std::span<const Family> families() { return k_families; }

}  // namespace colltopo
