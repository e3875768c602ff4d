// What tests of MPI's v and w calls send: blocks of random sizes, at places with gaps and in any order, of plain and of
// derived datatypes; and what must have arrived.
#pragma once

#include <algorithm>
#include <numeric>
#include <random>

#include "mpi_test.h"

namespace mpi_test {

inline constexpr int k_untouched = -7;

/// A datatype of ints: where in an element they lie, and what an element takes.
struct Element {
  MPI_Datatype type = MPI_INT;
  std::vector<int> places = {0};
  int extent = 1;
};

/// Two ints with one between them that is not ours.
inline Element with_a_gap() {
  Element kind{MPI_DATATYPE_NULL, {0, 2}, 4};
  MPI_Datatype vector = MPI_DATATYPE_NULL;
  MPI_Type_vector(2, 1, 2, MPI_INT, &vector);
  MPI_Type_create_resized(vector, 0, 4 * sizeof(int), &kind.type);
  MPI_Type_commit(&kind.type);
  MPI_Type_free(&vector);
  return kind;
}

/// Ints that rank `from` has for rank `to`: even, so that any kind can carry them. The same on all ranks.
inline std::vector<std::vector<int>> traffic(int ranks, unsigned seed) {
  std::mt19937 random(seed);
  const auto n = static_cast<std::size_t>(ranks);
  std::vector<std::vector<int>> ints(n, std::vector<int>(n));
  const auto lonely = static_cast<std::size_t>(random() % n);
  const unsigned pattern = seed % 5;
  for (std::size_t from = 0; from < n; ++from) {
    for (std::size_t to = 0; to < n; ++to) {
      int& size = ints[from][to];
      size = 2 * static_cast<int>(random() % 400);
      if (pattern == 1 && random() % 2 == 0) size = 0;
      if (pattern == 2 && (from == lonely || to == lonely)) size = 0;
      if (pattern == 3) size = 2 * static_cast<int>(random() % 4);
      if (pattern == 4) size = 0;
    }
  }
  if (pattern == 0) ints[lonely][random() % n] = 400000;  // 1.6 MB
  return ints;
}

inline std::vector<int> column(const std::vector<std::vector<int>>& all, int to) {
  std::vector<int> ints;
  for (const auto& row : all) ints.push_back(row[static_cast<std::size_t>(to)]);
  return ints;
}

/// Blocks in random order with gaps, each of a kind.
struct Side {
  std::vector<Element> kinds;       // [block]
  std::vector<int> counts, places;  // [block] elements; ints from the first of `memory`
  std::vector<int> memory;

  Side(const std::vector<int>& ints, std::vector<Element> of, std::mt19937& random) : kinds(std::move(of)) {
    std::vector<std::size_t> order(ints.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::shuffle(order.begin(), order.end(), random);
    counts.resize(ints.size());
    places.resize(ints.size());
    int end = 0;
    for (const std::size_t block : order) {
      const Element& kind = kinds[block];
      end += kind.extent * static_cast<int>(random() % 3);
      end += (kind.extent - end % kind.extent) % kind.extent;
      places[block] = end;
      counts[block] = ints[block] / static_cast<int>(kind.places.size());
      end += counts[block] * kind.extent;
    }
    memory.assign(static_cast<std::size_t>(end) + 8, k_untouched);
  }
  void fill(std::size_t block, int from, int to) {
    const Element& kind = kinds[block];
    std::size_t i = 0;
    for (int element = 0; element < counts[block]; ++element)
      for (const int place : kind.places)
        memory[static_cast<std::size_t>(places[block] + element * kind.extent + place)] = value(from, to, i++);
  }
  /// In extents of the first kind, for calls with one datatype.
  std::vector<int> displacements() const {
    std::vector<int> all;
    for (const int place : places) all.push_back(place / kinds.front().extent);
    return all;
  }
  std::vector<int> bytes_before() const {
    std::vector<int> all;
    for (const int place : places) all.push_back(place * static_cast<int>(sizeof(int)));
    return all;
  }
  std::vector<MPI_Datatype> types() const {
    std::vector<MPI_Datatype> all;
    for (const Element& kind : kinds) all.push_back(kind.type);
    return all;
  }
};

struct Place {
  MPI_Comm comm;
  int rank, ranks;
  std::string settings;
  unsigned seed = 0;
  bool in_place = false;
  Element sent, received;

  std::vector<Element> all(const Element& kind) const {
    return std::vector<Element>(static_cast<std::size_t>(ranks), kind);
  }
};

inline void compare(const char* call, const Place& place, const Side& got, const Side& wanted) {
  const auto wrong = std::mismatch(got.memory.begin(), got.memory.end(), wanted.memory.begin());
  expect(wrong.first == got.memory.end(), "%s (%s, seed %u%s): int %zd is %d, not %d", call, place.settings.c_str(),
         place.seed, place.in_place ? ", in place" : "", wrong.first - got.memory.begin(),
         wrong.first == got.memory.end() ? 0 : *wrong.first, wrong.first == got.memory.end() ? 0 : *wrong.second);
}

inline bool says_nothing(const std::vector<std::vector<int>>& all) {
  const std::vector<int> ints = column(all, 0);
  return std::all_of(ints.begin(), ints.end(), [](int n) { return n == 0; });
}

}  // namespace mpi_test
