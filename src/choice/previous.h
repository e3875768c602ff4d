// What the component that would serve a call otherwise is known to do, in terms of our table.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "colltopo/algorithms.h"

namespace colltopo {

/// Among which ranks a part of the work is done.
enum class Level : std::uint8_t { all, within_nodes, between_nodes };

/// Parts follow each other; their prices add up.
struct Part {
  std::string_view algorithm;
  Collective collective = Collective::alltoall;
  Level level = Level::all;
  double bytes = 0;  // as Request::bytes
  OptionValues values = {};
};

/// Empty: nothing is known of the component. `bytes` as in Request.
std::vector<Part> parts_of_previous(std::string_view component, Collective collective, Rank ranks, int nodes,
                                    int ranks_per_node, std::size_t bytes);

}  // namespace colltopo
