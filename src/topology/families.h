// Families of topologies by their parameters. Each checks its parameters and throws Error naming the spec.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "colltopo/topology.h"

namespace colltopo {

/// A family's name and parameters as they stand in a spec: "torus:3x3" is {"torus:3x3", "torus", {"3x3"}}.
struct FamilySpec {
  std::string text;
  std::string name;
  std::vector<std::string> parameters;
};

struct Family {
  std::string_view name;
  std::string_view parameters;  // as a reader would write them: "AxBx..."
  std::string_view about;
  Topology (*make)(const FamilySpec& spec);
};

std::span<const Family> families();

inline constexpr int k_most_hosts = 1 << 20;
inline constexpr std::size_t k_most_sides = 32;  // 22 sides of 2 have as many points as there may be nodes

/// "SPEC: FAULT; expected EXPECTED"
[[noreturn]] void refuse(const FamilySpec& spec, std::string_view fault, std::string_view expected);
/// A whole number in least..most, or refuses, calling it `what`.
int number(const FamilySpec& spec, std::string_view text, std::string_view what, int least, int most);
/// Refuses another number of parameters, expecting e.g. "ring:HOSTS". Up to `optional` more may be given.
void expect_parameters(const FamilySpec& spec, std::size_t count, std::string_view expected, std::size_t optional = 0);
/// "3x4x5". Side 1 is allowed: such a dimension has no links.
std::vector<int> sides_in(const FamilySpec& spec, std::string_view sides);
/// Their product, or refuses when it is too large.
std::int64_t points_of(const FamilySpec& spec, const std::vector<int>& sides);

// Direct networks that are grids or cubes (family_grids.cpp).
Topology ring(const FamilySpec& spec);
Topology mesh(const FamilySpec& spec);
Topology torus(const FamilySpec& spec);
Topology hypercube(const FamilySpec& spec);
Topology twisted_hypercube(const FamilySpec& spec);
Topology hyperx(const FamilySpec& spec);
// Direct networks given by a rule (family_graphs.cpp).
Topology complete(const FamilySpec& spec);
Topology bipartite(const FamilySpec& spec);
Topology circulant(const FamilySpec& spec);
Topology kautz(const FamilySpec& spec);
// Of a finite field (family_slimfly.cpp).
Topology slimfly(const FamilySpec& spec);
// Random direct networks (family_random.cpp).
Topology jellyfish(const FamilySpec& spec);
Topology xpander(const FamilySpec& spec);
// Networks with switches (family_switched.cpp).
Topology single_switch(const FamilySpec& spec);
Topology fat_tree(const FamilySpec& spec);
Topology dragonfly(const FamilySpec& spec);
Topology hamming_mesh(const FamilySpec& spec);
// GPU machines (family_boxes.cpp).
Topology dgx_a100(const FamilySpec& spec);
Topology mi250(const FamilySpec& spec);

}  // namespace colltopo
