// What reductions reduce: a basic datatype with an operation on it, the values that ranks contribute, and the result by
// MPI's definition: x0 op x1 op ... in the order of ranks.
#pragma once

#include "side.h"

namespace conformance {

struct Reducer {
  std::string name;
  const Basic* basic;
  MPI_Op op;                    // predefined, or MPI_OP_NULL: made by `function`
  MPI_User_function* function;  // takes every layout of `basic` that has a name
  bool commutes;
  void (*draw)(std::uint64_t hash, unsigned char* to);
  void (*combine)(const unsigned char* left, unsigned char* right);  // right = left op right
};

const std::vector<Reducer>& reducers();

/// The contribution of a rank, from its element `first` on.
Values contribution(const Reducer& reducer, std::uint64_t key, int rank, std::size_t first = 0);
/// The result over ranks 0 to `ranks` - 1, from element `first` on.
Values reduced(const Reducer& reducer, std::uint64_t key, int ranks, std::size_t first = 0);

}  // namespace conformance
