#include "case.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <stdexcept>

#include <fmt/format.h>

#include "measurements.h"
#include "own_process.h"

namespace colltopo::bench {

namespace {

constexpr std::array<WhatRow, 8> k_whats = {{
    {What::first_call, "first-call", "the first call of a communicator, the first of its process"},
    {What::new_size, "new-size", "calls of sizes that the communicator has not had"},
    {What::new_root, "new-root", "calls with roots that it has not had"},
    {What::same_size, "same-size", "one call again and again"},
    {What::two_sizes, "two-sizes", "calls of two sizes in turn"},
    {What::poll, "poll", "a call of which one message completes per turn of progress"},
    {What::held, "held", "bytes held beyond the user's buffers after a call"},
    {What::dup, "dup", "making a communicator like one before, its first call, freeing it"},
}};

constexpr std::array<CollectiveRow, 6> k_collectives = {{
    {"alltoall", COLLTOPO_ALLTOALL, colltopo_alltoall, false, true},
    {"allgather", COLLTOPO_ALLGATHER, colltopo_allgather, false, true},
    {"reduce_scatter", COLLTOPO_REDUCE_SCATTER, colltopo_reduce_scatter, false, true},
    {"allreduce", COLLTOPO_ALLREDUCE, colltopo_allreduce, false, false},
    {"bcast", COLLTOPO_BCAST, colltopo_bcast, true, false},
    {"reduce", COLLTOPO_REDUCE, colltopo_reduce, true, false},
}};

constexpr std::array<const char*, k_figures> k_figure_names = {
    "decide_us", "worst_us", "same_us",  "again_us",     "ratio",          "create_us",   "free_us",
    "tests",     "turns",    "messages", "memory_bytes", "resident_bytes", "later_bytes", "peak_bytes"};

constexpr double k_most_s = 15;  // after which a case is not measured again

// What a measurement's process writes where this one reads.
struct Shared {
  Figures figures;
  std::array<char, 512> fault{};
};

Figures in_a_process(const Case& one) {
  void* const memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  auto* const shared = new (memory) Shared;
  const bool ended = in_own_process([&] {
    try {
      shared->figures = figures_of(one);
    } catch (const std::exception& error) {
      std::strncpy(shared->fault.data(), error.what(), shared->fault.size() - 1);
    }
  });
  const Shared told = *shared;
  munmap(memory, sizeof(Shared));
  const std::string fault = !ended ? "its process died" : told.fault.data();
  if (!fault.empty())
    throw std::runtime_error(fmt::format("{} {} {} on {} ranks: {}", name_of(one.what), one.collective->name,
                                         one.algorithm, one.ranks, fault));
  return told.figures;
}

}  // namespace

std::span<const WhatRow> whats() { return k_whats; }
const char* name_of(What what) { return k_whats[static_cast<std::size_t>(what)].name; }
const char* name_of(Figure figure) { return k_figure_names[static_cast<std::size_t>(figure)]; }
std::span<const CollectiveRow> collective_rows() { return k_collectives; }

const CollectiveRow& collective_named(std::string_view name) {
  const auto found = std::ranges::find(k_collectives, name, &CollectiveRow::name);
  if (found != k_collectives.end()) return *found;
  std::string known;
  for (const CollectiveRow& row : k_collectives) known += fmt::format(" {}", row.name);
  throw std::invalid_argument(fmt::format("collective \"{}\" is not one of{}", name, known));
}

Figures measure(const Case& one, int repeats) {
  const double begin = seconds_now(CLOCK_MONOTONIC);
  std::vector<Figures> all;
  do {
    all.push_back(in_a_process(one));
  } while (static_cast<int>(all.size()) < repeats && seconds_now(CLOCK_MONOTONIC) - begin < k_most_s);
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::ranges::nth_element(all, middle, {}, &Figures::us);
  return *middle;
}

}  // namespace colltopo::bench
