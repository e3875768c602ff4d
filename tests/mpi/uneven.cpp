// MPI's v and w calls by every algorithm that serves them, over random counts (zeros, one huge, none on a rank, nothing
// at all), places with gaps and in any order, derived datatypes on either side, MPI_IN_PLACE and all roots; every int
// of every buffer compared with what was computed by hand, and the counters say that coll/topo ran.
#include <algorithm>
#include <numeric>
#include <random>
#include <thread>

#include "mpi_test.h"

namespace {

using namespace mpi_test;

constexpr int k_untouched = -7;

/// A datatype of ints: where in an element they lie, and what an element takes.
struct Kind {
  MPI_Datatype type = MPI_INT;
  std::vector<int> places = {0};
  int extent = 1;
};

/// Two ints with one between them that is not ours.
Kind with_a_gap() {
  Kind kind{MPI_DATATYPE_NULL, {0, 2}, 4};
  MPI_Datatype vector = MPI_DATATYPE_NULL;
  MPI_Type_vector(2, 1, 2, MPI_INT, &vector);
  MPI_Type_create_resized(vector, 0, 4 * sizeof(int), &kind.type);
  MPI_Type_commit(&kind.type);
  MPI_Type_free(&vector);
  return kind;
}

/// Ints that rank `from` has for rank `to`: even, so that any kind can carry them. The same on all ranks.
std::vector<std::vector<int>> traffic(int ranks, unsigned seed) {
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

std::vector<int> column(const std::vector<std::vector<int>>& all, int to) {
  std::vector<int> ints;
  for (const auto& row : all) ints.push_back(row[static_cast<std::size_t>(to)]);
  return ints;
}

/// Blocks in random order with gaps, each of a kind.
struct Side {
  std::vector<Kind> kinds;          // [block]
  std::vector<int> counts, places;  // [block] elements; ints from the first of `memory`
  std::vector<int> memory;

  Side(const std::vector<int>& ints, std::vector<Kind> of, std::mt19937& random) : kinds(std::move(of)) {
    std::vector<std::size_t> order(ints.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::shuffle(order.begin(), order.end(), random);
    counts.resize(ints.size());
    places.resize(ints.size());
    int end = 0;
    for (const std::size_t block : order) {
      const Kind& kind = kinds[block];
      end += kind.extent * static_cast<int>(random() % 3);
      end += (kind.extent - end % kind.extent) % kind.extent;
      places[block] = end;
      counts[block] = ints[block] / static_cast<int>(kind.places.size());
      end += counts[block] * kind.extent;
    }
    memory.assign(static_cast<std::size_t>(end) + 8, k_untouched);
  }
  void fill(std::size_t block, int from, int to) {
    const Kind& kind = kinds[block];
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
    for (const Kind& kind : kinds) all.push_back(kind.type);
    return all;
  }
};

struct Place {
  MPI_Comm comm;
  int rank, ranks;
  std::string settings;
  unsigned seed = 0;
  bool in_place = false;
  Kind sent, received;

  std::vector<Kind> all(const Kind& kind) const { return std::vector<Kind>(static_cast<std::size_t>(ranks), kind); }
};

void compare(const char* call, const Place& place, const Side& got, const Side& wanted) {
  const auto wrong = std::mismatch(got.memory.begin(), got.memory.end(), wanted.memory.begin());
  expect(wrong.first == got.memory.end(), "%s (%s, seed %u%s): int %zd is %d, not %d", call, place.settings.c_str(),
         place.seed, place.in_place ? ", in place" : "", wrong.first - got.memory.begin(),
         wrong.first == got.memory.end() ? 0 : *wrong.first, wrong.first == got.memory.end() ? 0 : *wrong.second);
}

/// `w`: a kind per block, other ones at the two ends.
void alltoallv(const Place& place, bool w) {
  std::mt19937 random(place.seed * 100 + static_cast<unsigned>(place.rank));
  auto all = traffic(place.ranks, place.seed);
  // In place what a rank sends another is as long as what it gets from there.
  for (std::size_t a = 0; place.in_place && a < all.size(); ++a)
    for (std::size_t b = 0; b < a; ++b) all[a][b] = all[b][a];
  std::vector<Kind> sent = place.all(place.sent), received = place.all(place.received);
  for (int peer = 0; w && peer < place.ranks; ++peer) {
    if ((place.rank + peer) % 2 == 0) sent[static_cast<std::size_t>(peer)] = place.received;
    if ((place.rank + peer) % 3 == 0) received[static_cast<std::size_t>(peer)] = place.sent;
  }
  Side in(all[static_cast<std::size_t>(place.rank)], sent, random), out(column(all, place.rank), received, random);
  Side wanted = out;
  for (int peer = 0; peer < place.ranks; ++peer) {
    const auto block = static_cast<std::size_t>(peer);
    in.fill(block, place.rank, peer);
    if (place.in_place) out.fill(block, place.rank, peer);
    wanted.fill(block, peer, place.rank);
  }
  const void* const input = place.in_place ? MPI_IN_PLACE : in.memory.data();
  if (w) {
    const std::vector<int> to = in.bytes_before(), from = out.bytes_before();
    const std::vector<MPI_Datatype> in_types = in.types(), out_types = out.types();
    MPI_Alltoallw(input, in.counts.data(), to.data(), in_types.data(), out.memory.data(), out.counts.data(),
                  from.data(), out_types.data(), place.comm);
  } else {
    const std::vector<int> to = in.displacements(), from = out.displacements();
    MPI_Alltoallv(input, in.counts.data(), to.data(), place.sent.type, out.memory.data(), out.counts.data(),
                  from.data(), place.received.type, place.comm);
  }
  compare(w ? "alltoallw" : "alltoallv", place, out, wanted);
}

void allgatherv(const Place& place) {
  std::mt19937 random(place.seed * 100 + static_cast<unsigned>(place.rank));
  const auto own = static_cast<std::size_t>(place.rank);
  const std::vector<int> ints = column(traffic(place.ranks, place.seed), 0);
  Side in({ints[own]}, {place.sent}, random), out(ints, place.all(place.received), random);
  Side wanted = out;
  in.fill(0, place.rank, 0);
  if (place.in_place) out.fill(own, place.rank, 0);
  for (int peer = 0; peer < place.ranks; ++peer) wanted.fill(static_cast<std::size_t>(peer), peer, 0);
  const std::vector<int> places = out.displacements();
  MPI_Allgatherv(place.in_place ? MPI_IN_PLACE : in.memory.data() + in.places[0], place.in_place ? 0 : in.counts[0],
                 place.sent.type, out.memory.data(), out.counts.data(), places.data(), place.received.type, place.comm);
  compare("allgatherv", place, out, wanted);
}

void gatherv_and_scatterv(const Place& place, int root) {
  std::mt19937 random(place.seed * 100 + static_cast<unsigned>(place.rank));
  const auto own = static_cast<std::size_t>(place.rank);
  const bool is_root = place.rank == root, held = is_root && place.in_place;
  const std::vector<int> ints = column(traffic(place.ranks, place.seed), 0);
  Side shard({ints[own]}, {place.sent}, random), blocks(ints, place.all(place.received), random);
  Side full = blocks, empty = shard;
  shard.fill(0, place.rank, 0);
  for (int peer = 0; peer < place.ranks; ++peer) full.fill(static_cast<std::size_t>(peer), peer, 0);
  const std::vector<int> places = blocks.displacements();
  Side gathered = blocks;
  if (held) gathered.fill(own, place.rank, 0);
  // What only the root has is not to be looked at elsewhere.
  MPI_Gatherv(held ? MPI_IN_PLACE : shard.memory.data() + shard.places[0], shard.counts[0], place.sent.type,
              is_root ? gathered.memory.data() : nullptr, is_root ? blocks.counts.data() : nullptr,
              is_root ? places.data() : nullptr, is_root ? place.received.type : MPI_DATATYPE_NULL, root, place.comm);
  if (is_root) compare("gatherv", place, gathered, full);
  MPI_Scatterv(is_root ? full.memory.data() : nullptr, is_root ? blocks.counts.data() : nullptr,
               is_root ? places.data() : nullptr, is_root ? place.received.type : MPI_DATATYPE_NULL,
               held ? MPI_IN_PLACE : static_cast<void*>(empty.memory.data() + empty.places[0]), empty.counts[0],
               place.sent.type, root, place.comm);
  if (!held) compare("scatterv", place, empty, shard);
}

bool says_nothing(const std::vector<std::vector<int>>& all) {
  const std::vector<int> ints = column(all, 0);
  return std::all_of(ints.begin(), ints.end(), [](int n) { return n == 0; });
}

void run_all(MPI_Comm comm, const std::string& algorithm, const std::vector<std::string>& settings, bool served,
             unsigned seeds) {
  MPI_Comm own = with_settings(comm, settings);
  const Kind plain, gaps = with_a_gap();
  const Counter calls("coll_topo_calls"), fallbacks("coll_topo_fallbacks");
  unsigned long long expected = 0;
  for (unsigned seed = 0; seed < seeds; ++seed) {
    for (const bool in_place : {false, true}) {
      Place place{own, rank_in(own), ranks_of(own), algorithm, seed, in_place, plain, plain};
      if (seed % 4 == 1) place.sent = gaps;
      if (seed % 4 == 2) place.received = gaps;
      if (seed % 4 == 3) place.sent = place.received = gaps;
      alltoallv(place, false);
      if (place.ranks > 1) alltoallv(place, true);  // Open MPI 4.1.4 takes bytes for extents where a rank is alone
      allgatherv(place);
      const int root = static_cast<int>(seed) % place.ranks;
      gatherv_and_scatterv(place, root);
      expected += says_nothing(traffic(place.ranks, seed)) ? 4 : 5;
    }
  }
  if (served && ranks_of(own) > 1) {
    expect(calls.since_made() == expected, "%llu calls served with %s, not %llu", expected, algorithm.c_str(),
           calls.since_made());
    expect(fallbacks.since_made() == 0, "no fallback with %s", algorithm.c_str());
  }
  MPI_Type_free(const_cast<MPI_Datatype*>(&gaps.type));
  MPI_Comm_free(&own);
}

std::vector<std::string> forced(const std::string& gather, const std::string& exchange) {
  return {"allgatherv_algorithm", gather,   "alltoallv_algorithm", exchange, "alltoallw_algorithm", exchange,
          "gatherv_algorithm",    "linear", "scatterv_algorithm",  "linear"};
}

// Communicators of two threads at once, each with calls of its own.
void run_in_threads(int provided) {
  if (provided < MPI_THREAD_MULTIPLE) return;
  MPI_Comm comms[2];
  for (MPI_Comm& comm : comms) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      for (unsigned seed = 0; seed < 20; ++seed) {
        Place place{comms[t], rank_in(comms[t]), ranks_of(comms[t]), "threads", seed, false, {}, {}};
        alltoallv(place, false);
        allgatherv(place);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
}

}  // namespace

int main(int argc, char** argv) {
  Job job(&argc, &argv, MPI_THREAD_MULTIPLE);
  const std::string mode = argc > 1 ? argv[1] : "all";
  if (mode == "threads") {
    run_in_threads(job.provided);
    return job.verdict();
  }
  std::vector<std::string> gathers = {"ring", "bruck", "swing", "bruck:radix=4"};
  if ((job.ranks & (job.ranks - 1)) == 0) gathers.push_back("recursive-doubling");
  for (const std::string& gather : gathers)
    run_all(MPI_COMM_WORLD, gather, forced(gather, "linear"), true, mode == "few" ? 5 : 10);
  for (const char* const exchange : {"linear", "pairwise", "tra", "tra2:group=2"})
    run_all(MPI_COMM_WORLD, exchange, forced("ring", exchange), true, mode == "few" ? 5 : 10);
  // What is left to the next component between what is served, and the model's choice.
  auto mixed = forced("ring", "fallback");
  run_all(MPI_COMM_WORLD, "fallback", mixed, false, 5);
  run_all(MPI_COMM_WORLD, "auto", {}, false, 5);
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, job.rank % 2, -job.rank, &half);
  run_all(half, "linear on a part", forced("ring", "linear"), true, 5);
  MPI_Comm_free(&half);
  return job.verdict();
}
