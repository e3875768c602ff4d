// Families of topologies by their parameters. Each checks its parameters and throws Error naming the spec.
#pragma once

#include <span>
#include <string>
#include <string_view>

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

}  // namespace colltopo
