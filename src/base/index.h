// Where what a number of 32 bits names (a rank, a node, a link, an orbit) lies in a vector.
#pragma once

#include <cstddef>
#include <cstdint>

namespace colltopo {

constexpr std::size_t index(std::int32_t number) { return static_cast<std::size_t>(number); }

}  // namespace colltopo
