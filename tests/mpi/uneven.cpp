// MPI's v and w calls by every algorithm that serves them, over random counts (zeros, one huge, none on a rank, nothing
// at all), places with gaps and in any order, derived datatypes on either side, MPI_IN_PLACE and all roots; every int
// of every buffer compared with what was computed by hand, and the counters say that coll/topo ran.
#include <algorithm>
#include <random>
#include <thread>

#include "uneven_sides.h"

namespace {

using namespace mpi_test;

/// `w`: a kind per block, other ones at the two ends.
void alltoallv(const Place& place, bool w) {
  std::mt19937 random(place.seed * 100 + static_cast<unsigned>(place.rank));
  auto all = traffic(place.ranks, place.seed);
  // In place what a rank sends another is as long as what it gets from there.
  for (std::size_t a = 0; place.in_place && a < all.size(); ++a)
    for (std::size_t b = 0; b < a; ++b) all[a][b] = all[b][a];
  std::vector<Element> sent = place.all(place.sent), received = place.all(place.received);
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

void run_all(MPI_Comm comm, const std::string& algorithm, const std::vector<std::string>& settings, bool served,
             unsigned seeds) {
  MPI_Comm own = with_settings(comm, settings);
  const Element plain, gaps = with_a_gap();
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
