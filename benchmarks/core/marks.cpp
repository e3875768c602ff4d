#include "marks.h"

#include <algorithm>

#include <fmt/format.h>

namespace colltopo::bench {

namespace {

constexpr double k_ms = 1e3;  // us
constexpr double k_MB = 1e6;  // bytes
constexpr std::size_t k_MiB = std::size_t{1} << 20;

Case case_of(What what, const char* collective, const char* algorithm, int ranks, std::size_t bytes) {
  Case one;
  one.what = what;
  one.collective = &collective_named(collective);
  one.algorithm = algorithm;
  one.ranks = ranks;
  one.ranks_per_node = std::min(ranks, 8);
  one.rank = std::min(1, ranks - 1);
  one.bytes = bytes;
  return one;
}

void add_sizes(std::vector<Mark>& all) {
  // By an algorithm that serves the call: what `auto` declines is not bound.
  Case in_turn = case_of(What::two_sizes, "allreduce", "recursive-doubling", 1024, 8);
  in_turn.other_bytes = 16;
  all.push_back({"allreduce 8 and 16 B in turn, P=1024, against one size", in_turn, Reading::ratio, 1.5});
  for (const auto& [ranks, most] : {std::pair{4096, 0.1 * k_ms}, std::pair{16384, 0.5 * k_ms}})
    all.push_back({fmt::format("alltoall, each new size, P={}", ranks),
                   case_of(What::new_size, "alltoall", "auto", ranks, 8), Reading::beyond_same, most});
}

void add_first_calls(std::vector<Mark>& all) {
  for (const auto& [ranks, most] : {std::pair{4096, 5 * k_ms}, std::pair{16384, 30 * k_ms}})
    for (const char* const collective : {"alltoall", "allreduce"})
      all.push_back({fmt::format("first call of a communicator, P={}", ranks),
                     case_of(What::first_call, collective, "auto", ranks, 8), Reading::us, most});
}

void add_roots(std::vector<Mark>& all) {
  for (const int ranks_per_node : {8, 1})
    for (const std::size_t bytes : {std::size_t{8}, k_MiB}) {
      Case roots = case_of(What::new_root, "bcast", "auto", 1024, bytes);
      roots.ranks_per_node = ranks_per_node;
      all.push_back({"bcast, each new root, P=1024", roots, Reading::us, 20});
    }
}

void add_memory(std::vector<Mark>& all) {
  constexpr std::size_t vector = 256 * k_MiB;
  all.push_back({"allreduce of 268 MB, P=16, ring: held", case_of(What::held, "allreduce", "ring", 16, vector),
                 Reading::held, 2.0 * vector / 16});
  Case gathered = case_of(What::held, "allgather", "auto", 4096, k_MiB / 16);
  gathered.ranks_per_node = 64;  // fewer to a node leave it to others, or take what holds less
  all.push_back({"allgather 64 KiB, P=4096, auto: held", gathered, Reading::held, 16 * k_MB});
  all.push_back({"allgather 64 KiB, P=4096, auto: bound in", gathered, Reading::beyond_same, 30 * k_ms});
  all.push_back({"alltoall tra, 16 MB x 16: held", case_of(What::held, "alltoall", "tra", 16, 16 * k_MiB),
                 Reading::held, Figures::k_none});
}

void add_file(std::vector<Mark>& all, const std::string& schedule) {
  Case filed = case_of(What::first_call, "allreduce", "", 512, k_MiB);
  filed.algorithm = "file:" + schedule;
  filed.ranks_per_node = 1;
  filed.rank = 0;
  all.push_back({"512-rank schedule of a reduction: rank 0's first call", filed, Reading::us, 50 * k_ms});
  filed.what = What::held;
  all.push_back({"512-rank schedule of a reduction: rank 0's first call", filed, Reading::peak, 16 * k_MB});
}

}  // namespace

const char* unit_of(Reading reading) {
  switch (reading) {
    case Reading::us:
    case Reading::beyond_same:
      return "us";
    case Reading::ratio:
      return "times";
    default:
      return "bytes";
  }
}

double read(Reading reading, const Figures& figures) {
  switch (reading) {
    case Reading::us:
      return figures.us;
    case Reading::beyond_same:
      return std::max(figures.us - figures[Figure::same_us], 0.0);
    case Reading::ratio:
      return figures[Figure::ratio];
    case Reading::held:
      return figures.bytes;
    case Reading::peak:
      return figures[Figure::peak_bytes];
  }
  return Figures::k_none;
}

std::vector<Mark> marks(const std::string& schedule) {
  std::vector<Mark> all;
  add_sizes(all);
  add_first_calls(all);
  add_roots(all);
  all.push_back({"polling an all-to-all, one completion per turn, P=4096",
                 case_of(What::poll, "alltoall", "linear", 4096, 8), Reading::us, 3 * k_ms});
  add_memory(all);
  if (!schedule.empty()) add_file(all, schedule);
  return all;
}

}  // namespace colltopo::bench
