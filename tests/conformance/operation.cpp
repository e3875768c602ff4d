// Drawing an operation from a seed and its number.
#include "operation.h"

#include <algorithm>

#include "reducer.h"

namespace conformance {

namespace {

constexpr auto k_one = KindRow::one;
constexpr auto k_even = KindRow::even;
constexpr auto k_uneven = KindRow::uneven;
constexpr auto k_each = KindRow::each;

const KindRow k_rows[] = {
    {"barrier", 2, false, false, false, false, k_one},
    {"bcast", 6, true, false, false, false, k_one},
    {"gather", 5, true, false, false, true, k_even},
    {"gatherv", 4, true, false, false, true, k_uneven},
    {"scatter", 5, true, false, false, true, k_even},
    {"scatterv", 4, true, false, false, true, k_uneven},
    {"allgather", 6, false, false, false, true, k_even},
    {"allgatherv", 6, false, false, false, true, k_uneven},
    {"alltoall", 6, false, false, false, true, k_even},
    {"alltoallv", 6, false, false, false, true, k_uneven},
    {"alltoallw", 5, false, false, false, true, k_each},
    {"reduce", 6, true, true, false, true, k_one},
    {"allreduce", 8, false, true, false, true, k_one},
    {"reduce_scatter", 5, false, true, false, true, k_uneven},
    {"reduce_scatter_block", 5, false, true, false, true, k_even},
    {"scan", 2, false, true, false, true, k_one},
    {"exscan", 2, false, true, false, true, k_one},
    {"neighbor_allgather", 2, false, false, true, false, k_even},
    {"neighbor_allgatherv", 3, false, false, true, false, k_uneven},
    {"neighbor_alltoall", 3, false, false, true, false, k_even},
    {"neighbor_alltoallv", 3, false, false, true, false, k_uneven},
    {"neighbor_alltoallw", 3, false, false, true, false, k_each},
    {"messages", 6, false, false, false, false, k_one},
};

/// Nothing, one, few, around a power of two of bytes, any number up to the limit; small ones more often.
std::size_t elements_of(Dice& dice, int bytes, std::size_t most) {
  const auto unit = static_cast<std::size_t>(bytes);
  std::size_t elements = 0;
  switch (dice.below(8)) {
    case 0:
      elements = 0;
      break;
    case 1:
      elements = 1;
      break;
    case 2:
    case 3:
      elements = static_cast<std::size_t>(dice.between(2, 9));
      break;
    case 4:
    case 5: {
      const std::size_t around = std::size_t{1} << dice.between(2, 21);
      elements = std::min(around, most) / unit + static_cast<std::size_t>(dice.below(3));
      elements -= elements > 0 && dice.one_in(3) ? 1 : 0;
      break;
    }
    case 6:
      elements = static_cast<std::size_t>(dice.between(10, 300));
      break;
    default:
      elements = static_cast<std::size_t>(dice.below(static_cast<int>(most / unit) + 1));
  }
  return std::min(elements, most / unit);
}

Kind kind_of(Dice& dice, const Limits& limits) {
  int all = 0;
  for (const KindRow& row : k_rows) all += limits.leaves(row.name) ? 0 : row.weight;
  int thrown = dice.below(std::max(all, 1));
  for (int kind = 0; kind < static_cast<int>(Kind::kinds); ++kind) {
    const KindRow& row = k_rows[kind];
    if (limits.leaves(row.name)) continue;
    if (thrown < row.weight) return static_cast<Kind>(kind);
    thrown -= row.weight;
  }
  return Kind::barrier;
}

Form form_of(Dice& dice, const Limits& limits) {
  const int thrown = dice.below(10);
  const Form form = thrown < 5 ? Form::blocking : thrown < 8 ? Form::nonblocking : Form::persistent;
  return limits.leaves(name_of(form)) ? Form::blocking : form;
}

/// What the stock library does wrong before any component has a part in it; docs/testing.md has the list.
void leave_to_nobody(Operation& operation, const Limits& limits) {
  const bool grid_or_graph = operation.slot == k_grid || operation.slot == k_graph || operation.slot == k_distributed;
  // MPI_Ialltoallw keeps as many datatypes as there are neighbours, not as there are ranks.
  if (limits.leaves("stock-4.1") && operation.kind == Kind::alltoallw && grid_or_graph) operation.form = Form::blocking;
  // libnbc's persistent calls use datatypes, operations and communicators after these have been freed.
  const bool scans = operation.kind == Kind::scan || operation.kind == Kind::exscan;
  // MPICH 4.0's non-blocking reductions of derived datatypes write behind their memory.
  const bool reduces_later = row_of(operation.kind).reduces && operation.form == Form::nonblocking;
  if (limits.leaves("stock-mpich") && reduces_later) operation.form = Form::blocking;
  if (limits.leaves("stock-4.1") && scans && operation.form == Form::persistent) operation.form = Form::blocking;
}

}  // namespace

const KindRow& row_of(Kind kind) { return k_rows[static_cast<std::size_t>(kind)]; }

const char* name_of(Form form) {
  return form == Form::blocking ? "blocking" : form == Form::nonblocking ? "nonblocking" : "persistent";
}

bool Limits::leaves(const std::string& name) const {
  return std::find(leave.begin(), leave.end(), name) != leave.end();
}

bool Limits::leaves(const std::string& name, Form form) const {
  return leaves(name) || leaves(name + ":" + name_of(form));
}

Operation operation_of(std::uint64_t seed, int number, int ranks, const Limits& limits) {
  Operation operation;
  operation.key = hash_of(seed, static_cast<std::uint64_t>(number), 3);
  operation.number = number;
  Dice dice(operation.key);
  operation.kind = kind_of(dice, limits);
  const KindRow& row = row_of(operation.kind);
  operation.form = form_of(dice, limits);
  if (operation.kind == Kind::messages && operation.form == Form::persistent) operation.form = Form::nonblocking;
  operation.slot = static_cast<Slot>(row.neighbourhood ? dice.between(k_grid, k_distributed) : dice.below(k_slots));
  leave_to_nobody(operation, limits);
  operation.lag = operation.form == Form::blocking ? 0 : dice.below(limits.under_way);
  operation.rounds = operation.form == Form::persistent ? dice.between(1, 3) : 1;
  operation.in_place = dice.one_in(4) && row.in_place && !limits.leaves("in-place") &&
                       !limits.leaves(std::string("in-place:") + row.name, operation.form);
  operation.early_free = dice.one_in(3) && operation.form != Form::blocking && !limits.leaves("early-free") &&
                         !limits.leaves(std::string("early-free:") + row.name);
  static const std::vector<int> k_units = {1, 1, 2, 3, 4, 6, 12};
  const int of_unit = dice.one_of(k_units);
  int bytes = 0;
  if (row.reduces) {
    operation.basic = dice.below(static_cast<int>(reducers().size()));
    const Reducer& reducer = reducers()[static_cast<std::size_t>(operation.basic)];
    operation.unit = reducer.function != nullptr ? of_unit : 1;
    bytes = reducer.basic->size * operation.unit;
    operation.inexact = operation.kind == Kind::allreduce && operation.form == Form::blocking && dice.one_in(5) &&
                        !limits.leaves("inexact");
  } else {
    operation.basic = dice.below(static_cast<int>(basics().size()));
    // MPICH 4.0's own calls give wrong data, or an error.
    const bool wrong = basics()[static_cast<std::size_t>(operation.basic)].type == MPI_DOUBLE_INT;
    if (wrong && limits.leaves("stock-mpich")) operation.basic = 0;
    operation.unit = of_unit;
    bytes = basics()[static_cast<std::size_t>(operation.basic)].size * operation.unit;
  }
  const bool many = row.blocks != KindRow::one;
  operation.elements = elements_of(dice, bytes, limits.bytes / static_cast<std::size_t>(many ? ranks : 1));
  return operation;
}

}  // namespace conformance
