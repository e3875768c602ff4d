// Every collective, with the model's choice and with algorithms of each family, over counts that cut evenly and
// unevenly, types of several widths, all roots and MPI_IN_PLACE; every element compared, and what lies behind the
// result too.
#include <cstring>
#include <numeric>

#include "mpi_test.h"

namespace {

using namespace mpi_test;

template <class T>
MPI_Datatype type_of();
template <>
MPI_Datatype type_of<int>() {
  return MPI_INT;
}
template <>
MPI_Datatype type_of<double>() {
  return MPI_DOUBLE;
}
template <>
MPI_Datatype type_of<short>() {
  return MPI_SHORT;
}

// What rank `from` has for rank `to`; small enough that the sum of 32 of them fits a short.
template <class T>
T small_value(int from, int to, std::size_t i) {
  return static_cast<T>((from * 37 + to * 11 + static_cast<int>(i % 251) * 3) % 1000 - 400);
}

// A buffer whose last elements must stay as they are.
template <class T>
struct Buffer {
  explicit Buffer(std::size_t elements) : values(elements + k_margin, k_untouched) {}
  T* data() { return values.data(); }
  T& operator[](std::size_t i) { return values[i]; }
  bool margin_untouched() const {
    for (std::size_t i = values.size() - k_margin; i < values.size(); ++i) {
      if (values[i] != k_untouched) return false;
    }
    return true;
  }
  static constexpr std::size_t k_margin = 16;
  static constexpr T k_untouched = 77;
  std::vector<T> values;
};

struct Place {
  MPI_Comm comm;
  int rank;
  int ranks;
  std::string settings;
  unsigned long long calls = 0;  // with data
};

template <class T>
void same(const char* collective, const Place& place, T got, T wanted, std::size_t i, std::size_t count) {
  expect(got == wanted, "%s of %zu x %zu bytes (%s): element %zu is %g, not %g", collective, count, sizeof(T),
         place.settings.c_str(), i, static_cast<double>(got), static_cast<double>(wanted));
}

template <class T>
void untouched(const char* collective, const Place& place, const Buffer<T>& buffer, std::size_t count) {
  expect(buffer.margin_untouched(), "%s of %zu (%s) to write nothing behind its result", collective, count,
         place.settings.c_str());
}

template <class T>
void alltoall(Place& place, std::size_t count, bool in_place) {
  const auto ranks = static_cast<std::size_t>(place.ranks);
  Buffer<T> out(ranks * count), in(ranks * count);
  Buffer<T>& source = in_place ? in : out;
  for (std::size_t to = 0; to < ranks; ++to) {
    for (std::size_t i = 0; i < count; ++i)
      source[to * count + i] = small_value<T>(place.rank, static_cast<int>(to), i);
  }
  MPI_Alltoall(in_place ? MPI_IN_PLACE : out.data(), static_cast<int>(count), type_of<T>(), in.data(),
               static_cast<int>(count), type_of<T>(), place.comm);
  for (std::size_t from = 0; from < ranks; ++from) {
    for (std::size_t i = 0; i < count; ++i) {
      same("alltoall", place, in[from * count + i], small_value<T>(static_cast<int>(from), place.rank, i), i, count);
    }
  }
  untouched("alltoall", place, in, count);
  if (count > 0) ++place.calls;
}

template <class T>
void allgather(Place& place, std::size_t count, bool in_place) {
  const auto ranks = static_cast<std::size_t>(place.ranks);
  Buffer<T> out(count), in(ranks * count);
  T* const own = in_place ? in.data() + static_cast<std::size_t>(place.rank) * count : out.data();
  for (std::size_t i = 0; i < count; ++i) own[i] = small_value<T>(place.rank, 0, i);
  // In place the send count means nothing, so ranks may well differ in it.
  MPI_Allgather(in_place ? MPI_IN_PLACE : out.data(), in_place ? place.rank : static_cast<int>(count), type_of<T>(),
                in.data(), static_cast<int>(count), type_of<T>(), place.comm);
  for (std::size_t from = 0; from < ranks; ++from) {
    for (std::size_t i = 0; i < count; ++i) {
      same("allgather", place, in[from * count + i], small_value<T>(static_cast<int>(from), 0, i), i, count);
    }
  }
  untouched("allgather", place, in, count);
  if (count > 0) ++place.calls;
}

template <class T>
T sum_of(const Place& place, int to, std::size_t i) {
  T sum = 0;
  for (int from = 0; from < place.ranks; ++from) sum = static_cast<T>(sum + small_value<T>(from, to, i));
  return sum;
}

template <class T>
void allreduce(Place& place, std::size_t count, bool in_place) {
  Buffer<T> out(count), in(count);
  Buffer<T>& source = in_place ? in : out;
  for (std::size_t i = 0; i < count; ++i) source[i] = small_value<T>(place.rank, 0, i);
  MPI_Allreduce(in_place ? MPI_IN_PLACE : out.data(), in.data(), static_cast<int>(count), type_of<T>(), MPI_SUM,
                place.comm);
  for (std::size_t i = 0; i < count; ++i) same("allreduce", place, in[i], sum_of<T>(place, 0, i), i, count);
  untouched("allreduce", place, in, count);
  if (count > 0) ++place.calls;
}

template <class T>
void reduce(Place& place, std::size_t count, bool in_place, int root) {
  const bool is_root = place.rank == root;
  Buffer<T> out(count), in(count);
  Buffer<T>& source = in_place && is_root ? in : out;
  for (std::size_t i = 0; i < count; ++i) source[i] = small_value<T>(place.rank, 0, i);
  MPI_Reduce(in_place && is_root ? MPI_IN_PLACE : out.data(), is_root ? in.data() : nullptr, static_cast<int>(count),
             type_of<T>(), MPI_SUM, root, place.comm);
  for (std::size_t i = 0; i < count; ++i) {
    if (is_root) same("reduce", place, in[i], sum_of<T>(place, 0, i), i, count);
    if (&source == &out) same("reduce's input", place, out[i], small_value<T>(place.rank, 0, i), i, count);
  }
  untouched("reduce", place, in, count);
  if (count > 0) ++place.calls;
}

template <class T>
void bcast(Place& place, std::size_t count, int root) {
  Buffer<T> buffer(count);
  for (std::size_t i = 0; i < count && place.rank == root; ++i) buffer[i] = small_value<T>(root, root, i);
  MPI_Bcast(buffer.data(), static_cast<int>(count), type_of<T>(), root, place.comm);
  for (std::size_t i = 0; i < count; ++i) same("bcast", place, buffer[i], small_value<T>(root, root, i), i, count);
  untouched("bcast", place, buffer, count);
  if (count > 0) ++place.calls;
}

// What only the root has is null elsewhere, and its count and type are of no meaning there.
template <class T>
void gather(Place& place, std::size_t count, bool in_place, int root) {
  const bool is_root = place.rank == root, is_in_place = in_place && is_root;
  const auto ranks = static_cast<std::size_t>(place.ranks);
  Buffer<T> out(count), in(is_root ? ranks * count : 0);
  T* const own = is_in_place ? in.data() + static_cast<std::size_t>(root) * count : out.data();
  for (std::size_t i = 0; i < count; ++i) own[i] = small_value<T>(place.rank, 0, i);
  MPI_Gather(is_in_place ? MPI_IN_PLACE : out.data(), is_in_place ? 0 : static_cast<int>(count), type_of<T>(),
             is_root ? in.data() : nullptr, is_root ? static_cast<int>(count) : -1,
             is_root ? type_of<T>() : MPI_DATATYPE_NULL, root, place.comm);
  for (std::size_t from = 0; is_root && from < ranks; ++from) {
    for (std::size_t i = 0; i < count; ++i) {
      same("gather", place, in[from * count + i], small_value<T>(static_cast<int>(from), 0, i), i, count);
    }
  }
  untouched("gather", place, in, count);
  if (count > 0) ++place.calls;
}

template <class T>
void scatter(Place& place, std::size_t count, bool in_place, int root) {
  const bool is_root = place.rank == root, is_in_place = in_place && is_root;
  const auto ranks = static_cast<std::size_t>(place.ranks);
  Buffer<T> out(is_root ? ranks * count : 0), in(count);
  for (std::size_t to = 0; is_root && to < ranks; ++to) {
    for (std::size_t i = 0; i < count; ++i) out[to * count + i] = small_value<T>(root, static_cast<int>(to), i);
  }
  MPI_Scatter(is_root ? out.data() : nullptr, is_root ? static_cast<int>(count) : -1,
              is_root ? type_of<T>() : MPI_DATATYPE_NULL, is_in_place ? MPI_IN_PLACE : in.data(),
              is_in_place ? 0 : static_cast<int>(count), type_of<T>(), root, place.comm);
  for (std::size_t i = 0; i < count; ++i) {
    if (!is_in_place) same("scatter", place, in[i], small_value<T>(root, place.rank, i), i, count);
    const std::size_t own = static_cast<std::size_t>(root) * count + i;
    if (is_root) same("scatter's input", place, out[own], small_value<T>(root, root, i), i, count);
  }
  untouched("scatter", place, in, count);
  if (count > 0) ++place.calls;
}

// Shards of different sizes, some of them empty.
template <class T>
void reduce_scatter(Place& place, std::size_t count, bool in_place) {
  const auto ranks = static_cast<std::size_t>(place.ranks);
  std::vector<int> counts(ranks);
  for (std::size_t to = 0; to < ranks; ++to) counts[to] = to % 3 == 1 ? 0 : static_cast<int>(count + to);
  const auto total = static_cast<std::size_t>(std::accumulate(counts.begin(), counts.end(), 0));
  const auto own = static_cast<std::size_t>(counts[static_cast<std::size_t>(place.rank)]);
  Buffer<T> out(total), in(in_place ? total : own);
  Buffer<T>& source = in_place ? in : out;
  for (std::size_t to = 0, at = 0; to < ranks; ++to) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(counts[to]); ++i) {
      source[at++] = small_value<T>(place.rank, static_cast<int>(to), i);
    }
  }
  MPI_Reduce_scatter(in_place ? MPI_IN_PLACE : out.data(), in.data(), counts.data(), type_of<T>(), MPI_SUM, place.comm);
  for (std::size_t i = 0; i < own; ++i) {
    same("reduce_scatter", place, in[i], sum_of<T>(place, place.rank, i), i, count);
  }
  untouched("reduce_scatter", place, in, count);
  if (total > 0) ++place.calls;
}

template <class T>
void reduce_scatter_block(Place& place, std::size_t count, bool in_place) {
  const auto ranks = static_cast<std::size_t>(place.ranks);
  Buffer<T> out(ranks * count), in(in_place ? ranks * count : count);
  Buffer<T>& source = in_place ? in : out;
  for (std::size_t to = 0; to < ranks; ++to) {
    for (std::size_t i = 0; i < count; ++i)
      source[to * count + i] = small_value<T>(place.rank, static_cast<int>(to), i);
  }
  MPI_Reduce_scatter_block(in_place ? MPI_IN_PLACE : out.data(), in.data(), static_cast<int>(count), type_of<T>(),
                           MPI_SUM, place.comm);
  for (std::size_t i = 0; i < count; ++i) {
    same("reduce_scatter_block", place, in[i], sum_of<T>(place, place.rank, i), i, count);
  }
  untouched("reduce_scatter_block", place, in, count);
  if (count > 0) ++place.calls;
}

template <class T>
void all_of_count(Place& place, std::size_t count) {
  for (const bool in_place : {false, true}) {
    alltoall<T>(place, count, in_place);
    allgather<T>(place, count, in_place);
    allreduce<T>(place, count, in_place);
    reduce_scatter<T>(place, count, in_place);
    reduce_scatter_block<T>(place, count, in_place);
    for (const int root : {0, place.ranks - 1, place.ranks / 2}) {
      reduce<T>(place, count, in_place, root);
      bcast<T>(place, count, root);
      gather<T>(place, count, in_place, root);
      scatter<T>(place, count, in_place, root);
    }
  }
}

struct Trial {
  std::string alltoall;
  std::string allgather;
  std::string reduce_scatter;
  std::string allreduce;
  std::string bcast;
  std::string reduce;
  std::string gather;
  std::string scatter;
  bool serves_all;  // at every number of ranks
};

void run(MPI_Comm world, const Trial& trial, bool few) {
  const Counter served("coll_topo_calls"), declined("coll_topo_fallbacks");
  expect(served.exists() && declined.exists(), "MPI_T variables of coll/topo: it was not loaded");
  MPI_Comm comm = with_settings(
      world, {"alltoall_algorithm", trial.alltoall, "allgather_algorithm", trial.allgather, "reduce_scatter_algorithm",
              trial.reduce_scatter, "allreduce_algorithm", trial.allreduce, "bcast_algorithm", trial.bcast,
              "reduce_algorithm", trial.reduce, "gather_algorithm", trial.gather, "scatter_algorithm", trial.scatter});
  Place place{comm, rank_in(comm), ranks_of(comm), trial.alltoall + " " + trial.allgather};
  const std::vector<std::size_t> counts =
      few ? std::vector<std::size_t>{1, 7, 5000} : std::vector<std::size_t>{0, 1, 2, 3, 7, 8, 13, 64, 1000, 5003};
  for (const std::size_t count : counts) {
    all_of_count<int>(place, count);
    if (count != 1000) all_of_count<double>(place, count);
    if (count < 1000) all_of_count<short>(place, count);
  }
  if (place.ranks == 1) {
    expect(served.since_made() == 0, "a communicator of one rank to be left alone");
  } else if (trial.serves_all) {
    expect(served.since_made() == place.calls, "%llu calls served with %s, not %llu", place.calls,
           place.settings.c_str(), served.since_made());
  } else {
    // The next component may itself call collectives of the communicator, so there may be more.
    expect(served.since_made() + declined.since_made() >= place.calls, "%llu calls served or left, not %llu + %llu",
           place.calls, served.since_made(), declined.since_made());
    // What the model finds worth serving on so few ranks is its own business; a named algorithm must have served.
    expect(served.since_made() > 0 || trial.alltoall == "auto", "some calls served with %s", place.settings.c_str());
  }
  MPI_Comm_free(&comm);
}

int smallest_divisor(int ranks) {
  int divisor = 2;
  while (divisor < ranks && ranks % divisor != 0) ++divisor;
  return divisor;
}

}  // namespace

int main(int argc, char** argv) {
  mpi_test::Job job(&argc, &argv);
  const bool few = argc > 1 && std::strcmp(argv[1], "few") == 0;
  const std::string group = std::to_string(smallest_divisor(job.ranks));
  const std::string radix = std::to_string(job.ranks < 3 ? 2 : 3);
  const std::string levels = "two-level:group=" + group + ",inter-radix=4";
  const Trial trials[] = {
      {"auto", "auto", "auto", "auto", "auto", "auto", "auto", "auto", false},
      {"linear", "ring", "ring", "ring", "binomial", "binomial", "binomial", "linear", true},
      {"tra:radix=2", "bruck", "recursive-halving", "recursive-doubling", "scatter-allgather", "binomial", "linear",
       "binomial", true},
      {"tra2:group=" + group, "swing", "swing", "swing", "swing", "swing", "two-level", "two-level", true},
      {"linear", "linear", "linear", "recursive-multiplying", "knomial", "knomial", "knomial", "knomial", true},
      {"linear", levels + ",leaders=1", levels + ",leaders=2", levels + ",leaders=1", levels + ",leaders=1",
       levels + ",leaders=1", levels, levels, true},
      {"pairwise", "bucket", "bucket", "bucket", "linear", "linear", "linear", "linear", true},
      {"tra:radix=" + radix, "recursive-doubling", "mirrored", "swing-latency", "auto", "auto", "auto", "auto", false},
  };
  for (const Trial& trial : trials) run(MPI_COMM_WORLD, trial, few);
  return job.verdict();
}
