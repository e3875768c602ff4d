// What the bytes of a file may stand for. A reader's work is in proportion to its input; where a few bytes can ask for
// much, one of these numbers ends it: 1 MB costs at most 10 s and 1 GiB.
#pragma once

#include <cstddef>

namespace colltopo::import {

struct Limits {
  /// Names of hosts and switches that lists such as n[0-99999] stand for, in a file: as many ranks as are tested, and
  /// some 1.5 kB of memory each.
  static constexpr std::size_t k_most_listed = 1 << 18;
  /// Bytes of all these names: a number's leading zeros are part of each.
  static constexpr std::size_t k_most_listed_bytes = std::size_t{32} << 20;
  /// Links that a file of any size may say, as one that joins all of a set with all of another does ...
  static constexpr std::size_t k_least_most_links = 1 << 20;
  /// ... and for each byte of a larger file. A line "a b" is two links of 4 bytes.
  static constexpr std::size_t k_links_per_byte = 4;
  /// Levels of switches in MPICH's coordinates, which write three numbers: a name has all those above it.
  static constexpr std::size_t k_most_levels = 16;
  /// Bytes of a value that holds for many elements, as a default does: each has a copy.
  static constexpr std::size_t k_most_default = 1000;
};

}  // namespace colltopo::import
