#include "tuning/table.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "colltopo/collective.h"

namespace colltopo::tuning {

namespace {

using C = Collective;
constexpr auto k_tuned = Dialect::tuned;
constexpr auto k_ucc = Dialect::ucc;

// tuned: the numbers of 4.1, which later releases keep. Gather and scatter are left out: 4.1 takes no account of their
// counts.
constexpr std::array k_theirs{
    Theirs{k_tuned, C::alltoall, "linear", 1, "linear"},
    Theirs{k_tuned, C::alltoall, "pairwise", 2, "pairwise"},
    Theirs{k_tuned, C::alltoall, "modified_bruck", 3, "tra radix=2"},
    Theirs{k_tuned, C::alltoall, "linear_sync", 4, ""},
    Theirs{k_tuned, C::allgather, "linear", 1, ""},
    Theirs{k_tuned, C::allgather, "bruck", 2, "bruck radix=2"},
    Theirs{k_tuned, C::allgather, "recursive_doubling", 3, "recursive-doubling"},
    Theirs{k_tuned, C::allgather, "ring", 4, "ring"},
    Theirs{k_tuned, C::allgather, "neighbor", 5, ""},
    Theirs{k_tuned, C::allreduce, "basic_linear", 1, ""},
    Theirs{k_tuned, C::allreduce, "nonoverlapping", 2, ""},
    Theirs{k_tuned, C::allreduce, "recursive_doubling", 3, "recursive-doubling"},
    Theirs{k_tuned, C::allreduce, "ring", 4, "ring"},
    Theirs{k_tuned, C::allreduce, "segmented_ring", 5, ""},
    Theirs{k_tuned, C::allreduce, "rabenseifner", 6, "recursive-halving"},
    Theirs{k_tuned, C::reduce_scatter, "non-overlapping", 1, ""},
    Theirs{k_tuned, C::reduce_scatter, "recursive_halving", 2, "recursive-halving"},
    Theirs{k_tuned, C::reduce_scatter, "ring", 3, "ring"},
    Theirs{k_tuned, C::reduce_scatter, "butterfly", 4, ""},
    Theirs{k_tuned, C::bcast, "basic_linear", 1, "linear"},
    Theirs{k_tuned, C::bcast, "chain", 2, ""},
    Theirs{k_tuned, C::bcast, "pipeline", 3, ""},
    Theirs{k_tuned, C::bcast, "split_binary_tree", 4, ""},
    Theirs{k_tuned, C::bcast, "binary_tree", 5, ""},
    Theirs{k_tuned, C::bcast, "binomial", 6, "binomial"},
    Theirs{k_tuned, C::bcast, "knomial", 7, "knomial radix=4"},
    Theirs{k_tuned, C::bcast, "scatter_allgather", 8, ""},
    Theirs{k_tuned, C::bcast, "scatter_allgather_ring", 9, "scatter-allgather"},
    Theirs{k_tuned, C::reduce, "linear", 1, "linear"},
    Theirs{k_tuned, C::reduce, "chain", 2, ""},
    Theirs{k_tuned, C::reduce, "pipeline", 3, ""},
    Theirs{k_tuned, C::reduce, "binary", 4, ""},
    Theirs{k_tuned, C::reduce, "binomial", 5, "binomial"},
    Theirs{k_tuned, C::reduce, "in-order_binary", 6, ""},
    Theirs{k_tuned, C::reduce, "rabenseifner", 7, ""},
    Theirs{k_ucc, C::alltoall, "pairwise", 0, "pairwise"},
    Theirs{k_ucc, C::alltoall, "bruck", 0, "tra radix=2"},
    Theirs{k_ucc, C::allgather, "knomial", 0, "recursive-doubling"},
    Theirs{k_ucc, C::allgather, "ring", 0, "ring"},
    Theirs{k_ucc, C::allgather, "bruck", 0, "bruck radix=2"},
    Theirs{k_ucc, C::allgather, "neighbor", 0, ""},
    Theirs{k_ucc, C::allreduce, "knomial", 0, "recursive-doubling"},
    Theirs{k_ucc, C::allreduce, "sra_knomial", 0, "recursive-halving"},
    Theirs{k_ucc, C::reduce_scatter, "ring", 0, "ring"},
    Theirs{k_ucc, C::reduce_scatter, "knomial", 0, "recursive-halving"},
    Theirs{k_ucc, C::bcast, "knomial", 0, "binomial"},
    Theirs{k_ucc, C::bcast, "sag_knomial", 0, "scatter-allgather"},
    Theirs{k_ucc, C::bcast, "dbt", 0, ""},
    Theirs{k_ucc, C::reduce, "knomial", 0, "binomial"},
    Theirs{k_ucc, C::reduce, "dbt", 0, ""},
};

Dialect library(Dialect dialect) { return dialect == Dialect::ucc ? Dialect::ucc : Dialect::tuned; }

template <typename Fits>
const Theirs* first(const Fits& fits) {
  const auto found = std::ranges::find_if(k_theirs, fits);
  return found == k_theirs.end() ? nullptr : &*found;
}

}  // namespace

std::span<const Theirs> all_theirs() { return k_theirs; }

int tuned_number(Collective collective) {
  switch (collective) {
    case C::allgather:
      return 0;
    case C::allreduce:
      return 2;
    case C::alltoall:
      return 3;
    case C::bcast:
      return 7;
    case C::gather:
      return 9;
    case C::reduce:
      return 11;
    case C::reduce_scatter:
      return 12;
    case C::scatter:
      return 15;
    default:
      return -1;
  }
}

const Theirs* theirs_named(Dialect dialect, Collective collective, std::string_view name) {
  return first([&](const Theirs& one) {
    return one.dialect == library(dialect) && one.collective == collective && one.name == name;
  });
}

const Theirs* theirs_numbered(Collective collective, int number) {
  return first([&](const Theirs& one) {
    return one.dialect == Dialect::tuned && one.collective == collective && one.number == number;
  });
}

const Theirs* theirs_like(Dialect dialect, Collective collective, std::string_view algorithm) {
  const std::string_view prefix = library(dialect) == Dialect::ucc ? "ucc:" : "tuned:";
  if (algorithm.starts_with(prefix)) return theirs_named(dialect, collective, algorithm.substr(prefix.size()));
  // Benchmarks write "tra:radix=2" and "tra radix=2"; a name alone is that with whatever options it took.
  std::string ours(algorithm);
  std::ranges::replace(ours, ':', ' ');
  return first([&](const Theirs& one) {
    return one.dialect == library(dialect) && one.collective == collective && !one.ours.empty() &&
           (one.ours == ours || ours.starts_with(std::string(one.ours) + " "));
  });
}

double their_bytes(Collective collective, Rank ranks, double bytes) {
  return row(collective).counts_shards() ? bytes * ranks : bytes;
}

}  // namespace colltopo::tuning
