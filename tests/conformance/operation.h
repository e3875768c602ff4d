// What operation number n of a seed is: all that ranks have in common. Nothing of it depends on other operations.
#pragma once

#include <string>
#include <vector>

#include "communicators.h"

namespace conformance {

enum class Kind {
  barrier,
  bcast,
  gather,
  gatherv,
  scatter,
  scatterv,
  allgather,
  allgatherv,
  alltoall,
  alltoallv,
  alltoallw,
  reduce,
  allreduce,
  reduce_scatter,
  reduce_scatter_block,
  scan,
  exscan,
  neighbor_allgather,
  neighbor_allgatherv,
  neighbor_alltoall,
  neighbor_alltoallv,
  neighbor_alltoallw,
  messages,
  kinds
};
enum class Form { blocking, nonblocking, persistent, forms };

/// What tells kinds apart.
struct KindRow {
  const char* name;  // as in MPI_Name, in small letters
  int weight;        // how often among all
  bool rooted, reduces, neighbourhood, in_place;
  enum Blocks {
    one,
    even,
    uneven,
    each
  } blocks;  // counts: of one block, equal ones, sizes of their own, types of their own
};
const KindRow& row_of(Kind kind);
const char* name_of(Form form);

/// What a run may do; --leave takes things away, so that a defect of the library can be told from one of ours.
struct Limits {
  std::size_t bytes = 1 << 20;  // of what a rank sends or receives in one call, about
  int under_way = 6;
  std::vector<std::string>
      leave;  // names of kinds and forms, and: empty-types, early-free, mixed-types, in-place, bottom, ...
  bool leaves(const std::string& name) const;
  /// Left out in all forms, or in this one (NAME:FORM).
  bool leaves(const std::string& name, Form form) const;
};

struct Operation {
  std::uint64_t key = 0;
  int number = 0;
  Kind kind = Kind::barrier;
  Form form = Form::blocking;
  Slot slot = k_world;
  int lag = 0;     // so many operations later it is completed
  int rounds = 1;  // starts of a persistent call
  bool in_place = false;
  bool early_free = false;   // datatypes and operations are freed before the call is over
  bool inexact = false;      // a sum of numbers that depends on the order: equal bits on all ranks are expected
  int unit = 1;              // every block has a multiple of so many basic elements
  int basic = 0;             // row of basics() or reducers()
  std::size_t elements = 0;  // units of a block; of blocks with sizes of their own the mean
};

Operation operation_of(std::uint64_t seed, int number, int ranks, const Limits& limits);

}  // namespace conformance
