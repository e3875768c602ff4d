// Hao and Orlin 1994, "A faster algorithm for finding the minimum cut in a directed graph", as LEMON has it.
// LEMON 1.3.1 is no C++20, so this header is for both.
#pragma once

#include <cstdint>
#include <vector>

namespace colltopo {

struct Arc {
  std::int32_t tail, head;
  std::int64_t capacity;
};

/// The least capacity out of any set that has the source but not all nodes.
std::int64_t hao_orlin(std::int32_t nodes, std::int32_t source, const std::vector<Arc>& arcs);

}  // namespace colltopo
