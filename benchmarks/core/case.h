// What colltopo-bench-core measures: a case, and the figures that it gives.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "colltopo/colltopo.h"

namespace colltopo::bench {

enum class What { first_call, new_size, new_root, same_size, two_sizes, poll, held, dup };
struct WhatRow {
  What what;
  const char* name;
  const char* about;
};
std::span<const WhatRow> whats();
const char* name_of(What what);

/// A collective as the C API has it.
struct CollectiveRow {
  const char* name;
  int number;  // COLLTOPO_...
  int (*call)(colltopo_comm*, const colltopo_call*);
  bool rooted;
  bool blocks;  // the count is of one rank's block, not of a vector
};
std::span<const CollectiveRow> collective_rows();
const CollectiveRow& collective_named(std::string_view name);  // throws std::invalid_argument

struct Setting {
  std::string name, value;
};

struct Case {
  What what = What::first_call;
  const CollectiveRow* collective = nullptr;
  std::string algorithm = "auto";
  int ranks = 1;
  int ranks_per_node = 1;
  int rank = 0;
  std::size_t bytes = 8;        // of a block or of the vector
  std::size_t other_bytes = 0;  // the second of two sizes in turn
  int root = 0;
  bool in_place = false;
  long calls = 0;  // new sizes or roots; 0: as many as its kind of case usually takes
  std::vector<Setting> settings;
};

/// Further figures; those that a kind of case does not have are not numbers (NaN).
enum class Figure {
  decide_us,       // of us: until the core knew what would serve the call
  worst_us,        // the size that took longest: it took another algorithm, or the first of its plan
  same_us,         // a call of the same size and root again
  again_us,        // the same roots a second time
  ratio,           // two sizes in turn against the mean of each alone
  create_us,       // of us: making a communicator
  free_us,         // of us: freeing it
  tests,           // requests tested
  turns,           // of progress
  messages,        // sent and received in a call
  memory_bytes,    // colltopo_comm_memory after the call
  resident_bytes,  // growth of resident memory by it
  later_bytes,     // the larger of both after a small call
  peak_bytes,      // growth of resident memory at most, while it ran
  count
};
constexpr auto k_figures = static_cast<std::size_t>(Figure::count);
const char* name_of(Figure figure);

/// Plain values: they come from a process of their own.
struct Figures {
  static constexpr double k_none = std::numeric_limits<double>::quiet_NaN();

  double us = k_none;     // microseconds of this processor per call
  double bytes = k_none;  // held: the larger of memory_bytes and resident_bytes; else of a block or of the vector
  bool served = false;
  std::array<char, 64> algorithm{};  // that served; empty: none did
  std::array<double, k_figures> others = filled();

  double& operator[](Figure figure) { return others[static_cast<std::size_t>(figure)]; }
  double operator[](Figure figure) const { return others[static_cast<std::size_t>(figure)]; }

 private:
  static constexpr std::array<double, k_figures> filled() {
    std::array<double, k_figures> none{};
    none.fill(k_none);
    return none;
  }
};

/// In a process of its own each time: the middle one, by us, of `repeats` measurements; fewer after some seconds.
/// Throws std::runtime_error when a call fails or a setting is refused.
Figures measure(const Case& one, int repeats);

}  // namespace colltopo::bench
