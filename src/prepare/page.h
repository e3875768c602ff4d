// The page that says what was prepared: the network, who serves which sizes, what that gains and how to use it.
#pragma once

#include <string>

#include "prepare/folder.h"

namespace colltopo::prepare {

/// What the page says besides the plans.
struct PageFacts {
  std::string folder;    // as its reader calls it
  std::string command;   // that made it
  std::string topology;  // value of coll_topo_topology
  bool has_linux_tables = false;
  bool has_json_tables = false;
};

/// One file of HTML that needs no other.
std::string page_of(const Prepared& prepared, const PageFacts& facts);

/// "with=<b>"
std::string html(std::string_view text);

}  // namespace colltopo::prepare
