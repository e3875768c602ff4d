// What may follow a family in a spec string: "/NAME:ARGUMENT", each a topology from a topology.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "colltopo/topology.h"

namespace colltopo {

struct Modifier {
  std::string_view name;
  std::string_view argument;  // as a reader would write it
  std::string_view about;
  /// The result is called `spec`, the whole spec string, as are faults in messages.
  Topology (*apply)(const Topology& topology, const std::string& spec, const std::string& argument);
};

std::span<const Modifier> modifiers();

// Of breakage.cpp.
Topology drop_links(const Topology& topology, const std::string& spec, const std::string& argument);
Topology drop_hosts(const Topology& topology, const std::string& spec, const std::string& argument);

}  // namespace colltopo
