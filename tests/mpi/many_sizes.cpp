// What programs of many sizes and many communicators do: sizes in turn over every collective, roots that rotate, counts
// that change, communicators duplicated and split whose first calls come between others' calls. Every element is
// compared, and coll/topo must have served what it was asked to.
#include <algorithm>
#include <functional>
#include <numeric>

#include "mpi_test.h"

namespace {

using namespace mpi_test;

// Elements of blocks and vectors: new ones come between known ones, as when solvers take dot products of 1 and 3.
constexpr int k_turns[] = {1, 3, 1, 2, 1, 3, 64, 1, 5000, 3, 64, 7, 5000, 1, 2, 65, 64, 3};

const std::vector<std::vector<std::string>> k_settings = {
    {"alltoall_algorithm", "linear", "allgather_algorithm", "ring", "allreduce_algorithm", "recursive-doubling",
     "reduce_scatter_algorithm", "ring", "bcast_algorithm", "binomial", "reduce_algorithm", "binomial"},
    {"alltoall_algorithm", "tra", "alltoall_radix", "2", "allgather_algorithm", "bruck", "allreduce_algorithm", "ring",
     "reduce_scatter_algorithm", "ring", "bcast_algorithm", "scatter-allgather", "reduce_algorithm",
     "scatter-allgather"},
    {"alltoall_algorithm", "pairwise", "segment_bytes", "4096", "allgather_algorithm", "swing", "allreduce_algorithm",
     "swing", "reduce_scatter_algorithm", "swing", "bcast_algorithm", "binomial", "reduce_algorithm", "binomial"},
    {},  // what coll/topo chooses
};

/// One communicator and how many of its calls must have been served.
struct Place {
  explicit Place(MPI_Comm of) : comm(of), rank(rank_in(of)), ranks(ranks_of(of)) {}
  MPI_Comm comm;
  int rank, ranks;
};

int sum_of(const Place& place, int to, int i) {
  int sum = 0;
  for (int from = 0; from < place.ranks; ++from) sum += value(from, to, static_cast<std::size_t>(i));
  return sum;
}

/// `count` values that rank `from` has for rank `to`.
std::vector<int> values_of(int from, int to, int count) {
  std::vector<int> all(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) all[static_cast<std::size_t>(i)] = value(from, to, static_cast<std::size_t>(i));
  return all;
}

void same(const char* collective, const Place& place, int count, const std::vector<int>& got,
          const std::function<int(int)>& wanted) {
  for (std::size_t i = 0; i < got.size(); ++i) {
    const int right = wanted(static_cast<int>(i));
    expect(got[i] == right, "%s of %d on %d ranks: element %zu is %d, not %d", collective, count, place.ranks, i,
           got[i], right);
    if (got[i] != right) return;
  }
}

void alltoall(const Place& place, int count) {
  std::vector<int> out, in(static_cast<std::size_t>(place.ranks * count), -1);
  for (int to = 0; to < place.ranks; ++to) {
    const std::vector<int> block = values_of(place.rank, to, count);
    out.insert(out.end(), block.begin(), block.end());
  }
  MPI_Alltoall(out.data(), count, MPI_INT, in.data(), count, MPI_INT, place.comm);
  same("alltoall", place, count, in,
       [&](int i) { return value(i / count, place.rank, static_cast<std::size_t>(i % count)); });
}

void allgather(const Place& place, int count) {
  const std::vector<int> out = values_of(place.rank, 0, count);
  std::vector<int> in(static_cast<std::size_t>(place.ranks * count), -1);
  MPI_Allgather(out.data(), count, MPI_INT, in.data(), count, MPI_INT, place.comm);
  same("allgather", place, count, in, [&](int i) { return value(i / count, 0, static_cast<std::size_t>(i % count)); });
}

void allreduce(const Place& place, int count) {
  const std::vector<int> out = values_of(place.rank, 0, count);
  std::vector<int> in(out.size(), -1);
  MPI_Allreduce(out.data(), in.data(), count, MPI_INT, MPI_SUM, place.comm);
  same("allreduce", place, count, in, [&](int i) { return sum_of(place, 0, i); });
}

void bcast(const Place& place, int count, int root) {
  std::vector<int> buffer(static_cast<std::size_t>(count), -1);
  if (place.rank == root) buffer = values_of(root, 1, count);
  MPI_Bcast(buffer.data(), count, MPI_INT, root, place.comm);
  same("bcast", place, count, buffer, [&](int i) { return value(root, 1, static_cast<std::size_t>(i)); });
}

void reduce(const Place& place, int count, int root) {
  const std::vector<int> out = values_of(place.rank, 2, count);
  std::vector<int> in(out.size(), -1);
  MPI_Reduce(out.data(), in.data(), count, MPI_INT, MPI_SUM, root, place.comm);
  same("reduce", place, count, in, [&](int i) { return place.rank == root ? sum_of(place, 2, i) : -1; });
}

void reduce_scatter(const Place& place, const std::vector<int>& counts) {
  const int whole = std::accumulate(counts.begin(), counts.end(), 0);
  const int begin = std::accumulate(counts.begin(), counts.begin() + place.rank, 0);
  const std::vector<int> out = values_of(place.rank, 3, whole);
  std::vector<int> in(static_cast<std::size_t>(counts[static_cast<std::size_t>(place.rank)]), -1);
  MPI_Reduce_scatter(out.data(), in.data(), counts.data(), MPI_INT, MPI_SUM, place.comm);
  same("reduce_scatter", place, whole, in, [&](int i) { return sum_of(place, 3, begin + i); });
}

void reduce_scatter_block(const Place& place, int count) {
  const std::vector<int> out = values_of(place.rank, 4, count * place.ranks);
  std::vector<int> in(static_cast<std::size_t>(count), -1);
  MPI_Reduce_scatter_block(out.data(), in.data(), count, MPI_INT, MPI_SUM, place.comm);
  same("reduce_scatter_block", place, count, in, [&](int i) { return sum_of(place, 4, place.rank * count + i); });
}

/// How many calls every_collective makes.
constexpr unsigned long long k_calls = 7;

void every_collective(const Place& place, int count, int root) {
  alltoall(place, count);
  allreduce(place, count);
  bcast(place, count, root);
  allgather(place, count);
  reduce(place, count, root);
  reduce_scatter_block(place, count);
  std::vector<int> counts(static_cast<std::size_t>(place.ranks), count);
  reduce_scatter(place, counts);
}

// Calls that coll/topo must have served of `calls`; what the model chooses for few ranks may be the next component.
void all_served(const Counter& served, bool forced, const Place& place, unsigned long long calls, const char* where) {
  const unsigned long long wanted = forced && place.ranks > 1 ? calls : 0;
  expect(served.since_made() >= wanted, "%s: %llu calls served, not %llu", where, wanted, served.since_made());
}

void sizes_in_turn(const std::vector<std::string>& settings) {
  MPI_Comm comm = with_settings(MPI_COMM_WORLD, settings);
  const Place place(comm);
  const Counter served("coll_topo_calls");
  unsigned long long calls = 0;
  for (const int count : k_turns) {
    every_collective(place, count, 0);
    calls += k_calls;
  }
  // One collective after the other, too: a size then comes back with nothing but another size between.
  for (int turn = 0; turn < 12; ++turn) {
    allreduce(place, 1 + turn % 2);
    alltoall(place, 1 + turn % 3);
    calls += 2;
  }
  // More sizes than anybody keeps.
  for (int count = 1; count <= 70; ++count, ++calls) allreduce(place, count);
  for (int count = 70; count >= 1; --count, ++calls) allgather(place, count);
  all_served(served, !settings.empty(), place, calls, "sizes in turn");
  MPI_Comm_free(&comm);
}

void roots_rotate(const std::vector<std::string>& settings) {
  MPI_Comm comm = with_settings(MPI_COMM_WORLD, settings);
  const Place place(comm);
  const Counter served("coll_topo_calls");
  unsigned long long calls = 0;
  for (int round = 0; round < 3; ++round)
    for (int root = 0; root < place.ranks; ++root) {
      const int count = k_turns[(round + root) % std::ssize(k_turns)];
      bcast(place, count, root);
      reduce(place, count, place.ranks - 1 - root);
      bcast(place, 1 + round, root);
      calls += 3;
    }
  all_served(served, !settings.empty(), place, calls, "roots that rotate");
  MPI_Comm_free(&comm);
}

// Counts that differ by rank and change from call to call, zeros among them; the sum stays the same for some.
void counts_change(const std::vector<std::string>& settings) {
  MPI_Comm comm = with_settings(MPI_COMM_WORLD, settings);
  const Place place(comm);
  const auto ranks = static_cast<std::size_t>(place.ranks);
  for (int turn = 0; turn < 30; ++turn) {
    std::vector<int> counts(ranks);
    for (std::size_t rank = 0; rank < ranks; ++rank) counts[rank] = static_cast<int>((rank * 5 + 3) % 11) * (turn % 3);
    std::ranges::rotate(counts, counts.begin() + turn % place.ranks);
    if (turn % 5 == 4) counts.assign(ranks, turn);
    reduce_scatter(place, counts);
    reduce_scatter(place, counts);
    if (turn % 2 == 0) reduce_scatter_block(place, 1 + turn);
  }
  MPI_Comm_free(&comm);
}

// Half of the ranks, all of them in another order, duplicates made at once and by and by: their first calls come
// between calls of the others.
void communicators_between_each_other(const std::vector<std::string>& settings) {
  MPI_Comm base = with_settings(MPI_COMM_WORLD, settings);
  std::vector<MPI_Comm> comms = {base};
  MPI_Request request = MPI_REQUEST_NULL;
  for (int round = 0; round < 6; ++round) {
    const MPI_Comm from = comms[static_cast<std::size_t>(round / 2)];
    MPI_Comm made = MPI_COMM_NULL;
    const int rank = rank_in(from), ranks = ranks_of(from);
    if (round % 3 == 0) {
      MPI_Comm_dup(from, &made);
    } else if (round % 3 == 1) {
      MPI_Comm_split(from, 2 * rank >= ranks && ranks > 2 ? 1 : 0, -rank, &made);
    } else {
      // The parent works on while the duplicate comes to be.
      MPI_Comm_idup(from, &made, &request);
      allreduce(Place(from), 1 + round);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    // The new one is not used in the round that makes it.
    for (std::size_t i = 0; i < comms.size(); ++i) {
      const Place place(comms[comms.size() - 1 - i]);
      every_collective(place, k_turns[(static_cast<std::size_t>(round) + i) % std::size(k_turns)], place.ranks - 1);
    }
    comms.push_back(made);
  }
  for (MPI_Comm& comm : comms) every_collective(Place(comm), 3, 0);
  // Freed in the order in which they were made, the parents of some first.
  for (MPI_Comm& comm : comms) {
    allreduce(Place(comm), 5);
    MPI_Comm_free(&comm);
  }
}

// Duplicates that live for one call, between calls on the communicator that stays.
void short_lives(const std::vector<std::string>& settings) {
  MPI_Comm base = with_settings(MPI_COMM_WORLD, settings);
  const Place place(base);
  for (int turn = 0; turn < 20; ++turn) {
    MPI_Comm short_lived = MPI_COMM_NULL;
    MPI_Comm_dup(base, &short_lived);
    if (turn % 2 == 0) allreduce(place, 1 + turn % 2);
    allreduce(Place(short_lived), 1 + turn % 3);
    if (turn % 4 == 1) alltoall(Place(short_lived), 2);
    MPI_Comm_free(&short_lived);
    alltoall(place, 1 + turn % 2);
  }
  MPI_Comm_free(&base);
}

}  // namespace

int main(int argc, char** argv) {
  mpi_test::Job job(&argc, &argv);
  for (const std::vector<std::string>& settings : k_settings) {
    sizes_in_turn(settings);
    roots_rotate(settings);
    counts_change(settings);
    communicators_between_each_other(settings);
    short_lives(settings);
  }
  return job.verdict();
}
